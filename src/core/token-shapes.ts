/** What secrets look like, whoever issued them. Nothing here knows a value. */

export const HIDDEN = "[secret]";

const LETTER = "A-Za-z0-9";
/** Where letters of the token itself may not stand before it, each run of them is read once only. */
const RUN = "\\w-";

/** How each kind begins, how it goes on, and what does not stand before it. */
const TOKENS: [begin: string, rest: string, before?: string][] = [
  // Slack, and its incoming webhooks
  ["xox[a-z]-", "[\\w-]{10,}"],
  ["xox[a-z]\\.xox[a-z]-", "[\\w-]{10,}"],
  ["xapp-", "[\\w-]{10,}"],
  ["hooks\\.slack\\.com/", "[a-z]+/[\\w/]{20,}"],
  // Discord, where the first part is a number in base64, and its webhooks
  ["[MNO][DTjz][AEIMQUYcgk][w-z0-5]", "[\\w-]{19,24}\\.[\\w-]{5,7}\\.[\\w-]{27,}", RUN],
  ["discord(?:app)?\\.com/api/webhooks/", "\\d+/[\\w-]{20,}"],
  // Models: OpenAI, Anthropic and who writes theirs alike; Groq, xAI, Hugging Face
  ["sk-", "(?=[\\w-]{0,60}\\d)[\\w-]{20,}", RUN],
  ["gsk_", "[A-Za-z0-9]{20,}"],
  ["xai-", "[A-Za-z0-9]{20,}"],
  ["hf_", "[A-Za-z0-9]{20,}"],
  // GitHub, GitLab
  ["gh[oprsu]_", "[A-Za-z0-9]{20,}"],
  ["github_pat_", "\\w{20,}"],
  ["gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-", "[\\w-]{16,}(?:\\.\\w{2,}){0,3}"],
  // Clouds: AWS, Google
  ["A(?:BIA|CCA|KIA|SIA)", "[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["AIza", "[\\w-]{30,}"],
  ["ya29\\.", "[\\w-]{20,}"],
  ["GOCSPX-", "[\\w-]{20,}"],
  // Packages, payments, mail
  ["npm_", "[A-Za-z0-9]{30,}"],
  ["pypi-", "[A-Za-z0-9]{16}[\\w-]{20,}"],
  ["[rs]k_(?:live|test)_", "[A-Za-z0-9]{10,}"],
  ["whsec_", "[A-Za-z0-9]{20,}"],
  ["SG\\.", "[\\w-]{16,64}\\.[\\w-]{16,64}"],
  // Signed JSON
  ["eyJ", "[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]+)?", RUN],
];
const BEGINNINGS = TOKENS.map(([begin, , before = LETTER]) => `${begin}(?<![${before}]${begin})`);
const TOKEN = new RegExp(TOKENS.map(([, rest], index) => `${BEGINNINGS[index]}${rest}`).join("|"), "g");
const TOKEN_BEGUN = new RegExp(`(?:${BEGINNINGS.join("|")})[\\w./-]*$`);

/** `scheme://user:PASSWORD@host`; what a program would still have to fill in is none. */
const IN_URL = /(:\/\/[^\s/?#:@"'<>`]{0,256}:)(?![$<{[])[^\s/?#@"'<>`]{1,1024}(?=@)/g;
const IN_URL_BEGUN = /(:\/\/[^\s/?#:@"'<>`]{0,256}:)(?!\d{1,5}$)[^\s/?#@"'<>`]{1,1024}$/;

/** Values that only their name gives away. */
const IS = "[\"'\\\\]{0,2}\\s{0,4}[=:]\\s{0,4}[\"'\\\\]{0,2}";
const NAMED = `((?:secret_?access_?key|session_?token)${IS}|authorization${IS}(?:basic|bearer|token)\\s{1,4})`;
const NAMED_VALUE = new RegExp(`${NAMED}[\\w.~+/=-]{16,}`, "gi");
const NAMED_BEGUN = new RegExp(`${NAMED}[\\w.~+/=-]+$`, "i");

/** Private keys: the frame, headers, and lines of base64 with what `grep`, `diff` or a program's text puts around them. */
const FRAME = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
const HEADERS = "(?:(?:\\r?\\n|(?:\\\\r)?\\\\n)[ \\t]{0,8}[A-Z][A-Za-z-]{2,20}: [^\\n\\\\]{0,120}(?=[\\n\\\\]|$)){0,5}";
// Each text can be read as lines in one way only: else a key that is none would take for ever.
const BETWEEN = "(?:[^A-Za-z0-9+/=\\\\]|\\\\[nrt]|\\\\(?![nrt])|\\+(?=\\s)){0,40}";
const PLACE = "(?:(?![A-Za-z0-9+/=]{20})[A-Za-z0-9/][\\w./]{0,79}[:|-]\\s{0,8}){0,3}";
const LINE = `${BETWEEN}${PLACE}[A-Za-z0-9+/=]{20,}(?![A-Za-z0-9+/=])`;
const LAST = `(?:${BETWEEN}(?!END )[A-Za-z0-9+/=]{1,63})?`;
const KEY = new RegExp(`-----BEGIN ${FRAME}${HEADERS}(?:${LINE})+(?:${LAST}${BETWEEN}-----END ${FRAME})?`, "g");
const KEY_BEGUN = new RegExp(`^-----BEGIN ${FRAME}${HEADERS}(?:${LINE})*${LAST}${BETWEEN}$`);
const KEY_ENDED = new RegExp(`-----END ${FRAME}`);
/** No private key is longer. */
const KEY_LENGTH = 16_384;

/** Hides what looks like a secret. Linear in the length of the text. */
export function hideShapes(text: string): string {
  const plain = text.includes("-----BEGIN ") ? text.replace(KEY, HIDDEN) : text;
  const tokenless = plain.replace(TOKEN, HIDDEN).replace(NAMED_VALUE, `$1${HIDDEN}`);
  return tokenless.includes("://") ? tokenless.replace(IN_URL, `$1${HIDDEN}`) : tokenless;
}

/** The same, at the end of a text that was cut there, for the first part of a secret. */
export function hideShapesAndBegun(text: string): string {
  const key = beginOfKey(text);
  const plain = hideShapes(key === -1 ? text : text.slice(0, key) + HIDDEN);
  // Where a token that is cut off is longer than this, its form showed without its end.
  const end = Math.max(0, plain.length - 4096);
  const hidden = plain.slice(end).replace(TOKEN_BEGUN, HIDDEN).replace(IN_URL_BEGUN, `$1${HIDDEN}`);
  return plain.slice(0, end) + hidden.replace(NAMED_BEGUN, `$1${HIDDEN}`);
}

/** Hides the rest of a private key at the beginning of a text that was cut there. */
export function hideEnded(text: string): string {
  const end = KEY_ENDED.exec(text.slice(0, KEY_LENGTH));
  if (end === null || text.slice(0, end.index).includes("-----BEGIN ")) return text;
  return HIDDEN + text.slice(end.index + end[0].length);
}

/** Where a private key begins that is not over at the end of the text; -1 when there is none. */
export function beginOfKey(text: string): number {
  const at = text.lastIndexOf("-----BEGIN ");
  return at === -1 || text.length - at > KEY_LENGTH || !KEY_BEGUN.test(text.slice(at)) ? -1 : at;
}
