/** Letters and digits that look like chance and are always the same. */
export function noise(length: number, seed = 7): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  let state = seed;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return letters[Math.floor((state / 2_147_483_648) * letters.length)];
  }).join("");
}

/** Put together here, so that no file of ours holds what looks like a token. */
const word = (begin: string, length: number, seed?: number): string => `${begin}${noise(length, seed)}`;
const json = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** One of each kind that is known by its form alone. */
export const TOKENS: [kind: string, token: string][] = [
  ["a Slack bot token", `${word("xoxb-", 12)}-${noise(13, 2)}-${noise(24, 3)}`],
  ["a rotated Slack token", word("xoxe.xoxp-1-", 40)],
  ["a Slack app token", `${word("xapp-1-A", 10)}-${noise(13)}-${noise(64)}`],
  ["a Slack webhook", `hooks.slack.com/${"services"}/T${noise(10)}/B${noise(10)}/${noise(24)}`],
  ["a Discord bot token", `${Buffer.from("1122334455667788990").toString("base64url")}.G${noise(5)}.${noise(38)}`],
  ["a Discord webhook", `discord.com/api/${"webhooks"}/112233445566778899/${noise(68)}`],
  ["an OpenAI key", word("sk-proj-", 120)],
  ["an old OpenAI key", word("sk-", 48)],
  ["an Anthropic key", word("sk-ant-api03-", 93)],
  ["a Groq key", word("gsk_", 52)],
  ["an xAI key", word("xai-", 80)],
  ["a Hugging Face token", word("hf_", 34)],
  ["a GitHub token", word("ghp_", 36)],
  ["a GitHub server token", word("ghs_", 36)],
  ["a fine-grained GitHub token", `${word("github_pat_", 22)}_${noise(59)}`],
  ["a GitLab token", word("glpat-", 20)],
  ["a routable GitLab token", `${word("glpat-", 27)}.01.${noise(9)}`],
  ["an AWS key id", `AKIA${noise(16).toUpperCase()}`],
  ["a temporary AWS key id", `ASIA${noise(16).toUpperCase()}`],
  ["a Google key", word("AIza", 35)],
  ["a Google client secret", word("GOCSPX-", 28)],
  ["an npm token", word("npm_", 36)],
  ["a PyPI token", word("pypi-AgEIcHlwaS5vcmcC", 80)],
  ["a Stripe key", word("sk_live_", 24)],
  ["a SendGrid key", `${word("SG.", 22)}.${noise(43)}`],
  ["a JSON web token", `${json({ alg: "HS256", typ: "JWT" })}.${json({ sub: "1234567890", iat: 1 })}.${noise(43)}`],
];

/** A private key as OpenSSL writes it. */
export function privateKey(kind = "RSA PRIVATE KEY", headers = ""): string {
  const body = Array.from({ length: 6 }, (_, index) => noise(64, index + 1)).join("\n");
  return `-----BEGIN ${kind}-----\n${headers}${body}\n${noise(30)}==\n-----END ${kind}-----`;
}
