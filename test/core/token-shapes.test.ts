import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "../../src/core/redactor.ts";
import { noise, privateKey, TOKENS } from "../support/secrets.ts";

const redact = redactor([]);

describe("tokens are known by their form", () => {
  test.each(TOKENS)("%s", (_, token) => {
    for (const [before, after] of [
      ["", ""],
      ["TOKEN=", "\n"],
      ['{"a":"', '"}'],
      ["Bearer ", ", and more"],
      ["https://x/?key=", "&b=1"],
      ["(", ")."],
    ]) {
      const hidden = redact(`${before}${token}${after}`);
      expect(hidden.startsWith(before as string)).toBe(true);
      expect(hidden).toContain("[secret]");
      for (let at = 12; at < token.length - 8; at += 1) expect(hidden).not.toContain(token.slice(at, at + 8));
    }
  });

  test.each([
    ["an address", `https://ann:${noise(12)}@example.org/x`, "https://ann:[secret]@example.org/x"],
    ["an address without a name", `redis://:${noise(12)}@10.0.0.1:6379/2`, "redis://:[secret]@10.0.0.1:6379/2"],
    ["an AWS file", `aws_secret_access_key = ${noise(40)}\n`, "aws_secret_access_key = [secret]\n"],
    ["AWS's answer", `"SecretAccessKey": "${noise(20)}/+${noise(18)}",`, '"SecretAccessKey": "[secret]",'],
    ["an AWS session", `AWS_SESSION_TOKEN=${noise(300)}==`, "AWS_SESSION_TOKEN=[secret]"],
    ["a header", `> Authorization: Basic ${noise(24)}==\r\n`, "> Authorization: Basic [secret]\r\n"],
  ])("a password is known by its place: %s", (_, text, wanted) => {
    expect(redact(text)).toBe(wanted);
  });

  test.each([
    ["as it is", (key: string) => key],
    ["in JSON", (key: string) => JSON.stringify({ private_key: `${key}\n`, next: 1 })],
    ["indented", (key: string) => key.replaceAll("\n", "\n    ")],
    ["as a diff shows it", (key: string) => key.replaceAll("\n", "\n+")],
    ["as grep shows it", (key: string) => key.replaceAll("\n", "\nsrc/key.pem-12-")],
    ["in a program", (key: string) => key.replaceAll("\n", '\\n" +\n  "')],
    ["without its end", (key: string) => key.slice(0, key.indexOf("-----END"))],
  ])("a private key %s", (_, form) => {
    for (const kind of ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]) {
      const hidden = redact(`before\n${form(privateKey(kind))}\nafter, all of it`);
      expect(hidden).toMatch(/^before\n.*\[secret\]/s);
      expect(hidden).toContain("after, all of it");
      for (let line = 1; line <= 6; line += 1) expect(hidden).not.toContain(noise(64, line).slice(20, 40));
    }
  });

  test("a private key with headers goes with them", () => {
    const key = privateKey("RSA PRIVATE KEY", `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${noise(32)}\n\n`);
    expect(redact(`a\n${key}\nb`)).toBe("a\n[secret]\nb");
  });
});

describe("what is no token stays", () => {
  test.each([
    ["a commit", "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
    ["a digest", `sha256:${"9f86d081884c7d659a2feaa0c55ad015".repeat(2)}`],
    ["a uuid", "123e4567-e89b-12d3-a456-426614174000"],
    ["npm's integrity", `"integrity": "sha512-${noise(84)}/+==",`],
    ["an image", `data:image/png;base64,${Buffer.from(noise(3000)).toString("base64")}`],
    ["a certificate", `-----BEGIN CERTIFICATE-----\n${noise(64)}\n-----END CERTIFICATE-----`],
    ["words about a key", "-----BEGIN RSA PRIVATE KEY----- is how such a file begins, and so does this sentence."],
    ["a program about keys", 'if (line.startsWith("-----BEGIN PRIVATE KEY-----")) return isPrivateKeyOfSomebody(line);'],
    ["long names with dashes", "task-force-of-2024-and-more risk-assessment-of-something-1 sk-cube-grid-item-loading"],
    ["names of npm", "npm_config_user_agent npm_lifecycle_event npm_package_name"],
    ["variables in a command", 'curl -H "Authorization: Bearer $TOKEN" https://$USER:$PASS@host/ https://${U}:${P}@host/'],
    ["addresses with ports", "http://localhost:8080/@scope/pkg redis://127.0.0.1:6379/0 git@github.com:org/repo.git"],
    ["mail and scopes", "ann@example.org, @slack/bolt@5.1.0, https://unpkg.com/@babel/core@7.0.0/x:y"],
    ["a class with a long name", "NotificationManagerCompatTest.create.shouldNotifyWhenSomethingHappens"],
    ["a name in JSON's base64", "eyJhbGciOiJIUzI1NiJ9 alone"],
    ["words", "The skill of asking: sk, gh, hf_ and AKIA are only beginnings."],
  ])("%s", (_, text) => {
    expect(redact(text)).toBe(text);
  });

  test("in whole files", () => {
    for (const file of ["package-lock.json", "ARCHITECTURE.md", "LICENSE", "src/core/intake.ts", "test/core/gate/cases.ts"]) {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
      expect(redact(text)).toBe(text);
    }
  });

  test("in hexadecimal, base64 and words of any length", () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    fc.assert(
      fc.property(bytes, (any) => {
        for (const text of [Buffer.from(any).toString("hex"), Buffer.from(any).toString("base64")]) expect(redact(text)).toBe(text);
      }),
    );
  });
});

test("time is in proportion to the text, whatever it is", () => {
  const units = [
    "sk-",
    "-sk-",
    "ghp_",
    "-eyJ",
    "eyJaaaaaaaaaa.",
    "://a:",
    "://",
    "SG.aaaaaaaaaaaaaaaaaa.",
    "-MTA0",
    "authorization: ",
    "A: ",
  ];
  const keys = [
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    `-----BEGIN PRIVATE KEY-----\n${noise(64)}\n`,
    "\nAbc: x ",
    "ab:",
    `-ab-${noise(24)}\n`,
    `\\n${noise(24)}`,
  ];
  for (const unit of [...units, ...keys]) {
    for (const begin of ["", "eyJ", "://a:", "-----BEGIN PRIVATE KEY-----"]) {
      // Milliseconds each; what is not linear takes minutes, longer than a test may.
      const text = begin + unit.repeat(1_000_000 / unit.length);
      expect(redact(`${text} $`, { start: true, end: true })).not.toBe("");
      expect(redact(`${text.slice(0, 16_000)} $`, { start: true, end: true })).not.toBe("");
    }
  }
}, 120_000);
