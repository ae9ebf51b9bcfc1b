import { describe, expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";
import { parseGrant } from "../../../src/core/grants.ts";
import { labelled, PLACE, realWork } from "./lines.ts";

const contained = { ...PLACE, posture: "contained" } as const;

describe("whether a line only reads", () => {
  it.each([
    "ls",
    "cat a | grep b; git log",
    'for f in src/*.ts; do wc -l "$f"; done',
    "bash -c 'ls | wc -l'",
    "find . -name '*.ts' -exec grep -l x {} +",
    "diff <(sort a) <(sort b)",
    "n=$(wc -l < a); echo $((n + 1))",
    "ls missing 2>/dev/null || true",
    "git -C packages/api diff --stat",
    'x() { cat "$1"; }; x a',
    'cat "$FILE"',
  ])("says so of %j", (line) => {
    expect(judge(line, contained)).toMatchObject({ verdict: "auto", reads: true });
  });

  it.each([
    "echo x > a",
    "ls | tee a",
    "npm test",
    "git add a",
    "git commit -m x",
    "sed -i s/a/b/ f",
    "mkdir a",
    "touch a && ls",
    "make",
    "python3 -c 'print(1)'",
    "sort -o a b",
    "bash x.sh",
    'eval "$X"',
    "$CMD a",
    ". ./env.sh",
    "tar -xf a.tar",
    "uniq a b",
    "if true; then touch a; fi",
    "cat <(touch a)",
    "some-tool",
    "git stash",
    "cat > /tmp/x <<< y",
    "find . -fprint x",
    "node_modules/.bin/vitest run",
  ])("does not say so of %j", (line) => {
    expect(judge(line, contained).reads).toBeUndefined();
  });

  it("never says so of a line that is labelled as an edit, a build or a deletion", () => {
    const themes = new Set(["edit", "build-test", "delete", "install"]);
    const lines = [...labelled("risk-corpus"), ...labelled("own-corpus"), ...labelled("hard-corpus")].filter((one) =>
      themes.has(one.theme),
    );
    const reading = lines.map((one) => one.command).filter((line) => judge(line, contained).reads === true);
    // They list, check or look up something.
    const fine =
      /^(?:git apply|tar tf|unzip -l|gunzip -c|shellcheck|bash -n|sh -n|node --check|gofmt -l|go (?:vet|version)|ruby -c|php -l|composer|gcc --version|tox --version|cargo|prettier)/;
    expect(reading.filter((line) => !fine.test(line))).toEqual([]);
  });
});

describe("what an approval would have to open", () => {
  it.each([
    ["curl -s https://example.com/x", ["network=example.com:443"]],
    ["curl http://example.com:8080/x", ["network=example.com:8080"]],
    ["wget -qO- http://a.example http://b.example", ["network=a.example:80", "network=b.example:80"]],
    ["ssh -p 2222 deploy@web1.example.com uptime", ["network=web1.example.com:2222"]],
    ["scp a user@host.example.com:/tmp/", ["network=host.example.com:22"]],
    ["git clone https://github.com/a/b.git", ["network=github.com:443"]],
    ["git clone git@github.com:a/b.git", ["network=github.com:22"]],
    ["git push origin main", ["network=*"]],
    ['curl "$URL"', ["network=*"]],
    ["npm ci", ["network=registry.npmjs.org:443"]],
    ["pip install -r requirements.txt", ["network=files.pythonhosted.org:443", "network=pypi.org:443"]],
    ["apt-get install -y jq", ["network=*"]],
    ["cat /etc/hosts", ["read=/etc/hosts"]],
    ["cp a /opt/b", ["write=/opt/b"]],
    ["cat /opt/a > /srv/b", ["read=/opt/a", "write=/srv/b"]],
    ["cat ../x", ["read=/home/u/x"]],
    ["ssh web1.example.com -p2200 uptime", ["network=web1.example.com:2200"]],
    ["ssh -J jump.example.com web1.example.com", ["network=*"]],
    ["npm install react@18.2.0", ["network=registry.npmjs.org:443"]],
    ["npm install --registry=https://npm.example.com x", ["network=npm.example.com:443"]],
    ["curl -d https://a.example https://b.example", ["network=b.example:443"]],
    ["curl -x http://proxy.example:3128 https://b.example", ["network=*"]],
    ["mail -s x a@example.com", ["network=*"]],
    ["exec 3<>/dev/tcp/example.com/80", ["network=example.com:80"]],
    ["rm -rf dist", undefined],
  ])("reads from %j: %j", (line, grants) => {
    expect(judge(line, PLACE).grants).toEqual(grants);
  });

  it("gives only grants that can be read as such, and none to what is refused", () => {
    const lines = [...labelled("risk-corpus"), ...labelled("own-corpus"), ...labelled("hard-corpus")].map((one) => one.command);
    for (const line of [...lines, ...realWork()]) {
      const { grants = [], verdict } = judge(line, PLACE);
      for (const grant of grants) expect(() => parseGrant(grant)).not.toThrow();
      if (verdict === "deny") expect(grants).toEqual([]);
    }
  });
});

describe("the words of a reason", () => {
  it.each([
    ["rm -rf build dist out", "`rm` deletes 3 folders recursively: build, dist, out"],
    ["rm a.txt", "`rm` deletes a file: a.txt"],
    ['rm -r "$DIR"', '`rm` deletes, but could not read what `"$DIR"` is'],
    ["curl -d @a https://x.example", "`curl` sends data to x.example"],
    ["$X --version", "could not read what `$X` runs"],
    ['bash -c "$X"', 'could not read what `bash -c "$X"` runs'],
    ["ssh web1 uptime", "`ssh` runs commands on web1"],
    ["cat ../x", "`../x` leads out of the workspace"],
    ["echo '{}' > package.json && npm test", "the line changes `package.json` and runs what stands in it with `npm test`"],
  ])("says of %j: %s", (line, text) => {
    expect(judge(line, PLACE).reasons.map((reason) => reason.text)).toContain(text);
  });
});
