import { describe, expect, it } from "vitest";
import { judge } from "../../../src/core/gate.ts";
import { normalise } from "../../../src/core/gate/paths.ts";
import { PLACE } from "./lines.ts";

const FOLDERS = new Set(["/home/u/proj", "/home/u/proj/src", "/home/u/proj/api", "/home/u/proj/web"]);

/** Like the real one: a path that ends with a dot is found only where there is a folder. */
function realpath(path: string): string | null {
  const plain = normalise("/", path);
  return FOLDERS.has(plain) || (plain === "/home/u/proj/package.json" && !path.endsWith("/.")) ? plain : null;
}

describe("a change of folder in the middle of a line", () => {
  it.each([
    "cd src; ls; cd ..; ls",
    "cd src; cd ../api; ls",
    "cd api && go test ./... ; cd ../web && npm test",
    "cd src\nnpm test\ncd ..\ncd api\nnpm test",
    "cd src || exit 1; ls; cd ..",
  ])("is followed where the folder is there: %j", (line) => {
    expect(judge(line, { ...PLACE, realpath }).verdict).toBe("auto");
  });

  it.each([
    "cd nosuch; cd ..; ls",
    "cd package.json; cd ..; ls",
    "mv src x; cd src; cd ..; ls",
    "git checkout other; cd src; cd ..; ls",
    "cd src; cd ..; cd ..; ls",
    "cd src & cd ..; ls",
    "cd src | cat; cd ..; ls",
  ])("asks where it may have failed: %j", (line) => {
    expect(judge(line, { ...PLACE, realpath }).verdict).toBe("ask");
  });

  it("is followed under `set -e`, where a failure ends the line", () => {
    expect(judge("set -e; cd packages/a; npm test; cd ../b; npm test", PLACE).verdict).toBe("auto");
  });

  it.each([
    "set -e; if cd nosuch; cd ..; then ls; fi",
    "set -e; (cd nosuch; cd ..; ls)",
    "set -e; f() { cd nosuch; cd ..; cat x; }; f || true",
    "set -e; cd nosuch || true; cd ..; ls",
    "set -e; ! cd nosuch; cd ..; ls",
    "set -e; set +e; cd nosuch; cd ..; ls",
    "false && set -e; cd src; cd ..; ls",
  ])("asks where `set -e` does not end it: %j", (line) => {
    expect(judge(line, PLACE).verdict).toBe("ask");
  });
});

describe("arrays whose subscripts are texts", () => {
  it.each([
    'declare -A m=([a]=1 [b]=2); echo "${m[a]}"',
    'declare -A c; c[x]=1; echo "${c[x]}"',
    'declare -A c=(["a b"]=1); for k in "${!c[@]}"; do echo "$k ${c[$k]}"; done',
    'declare -A c; while read -r k; do c[$k]=1; done < names.txt; echo "${#c[@]}"',
  ])("are let pass: %j", (line) => {
    expect(judge(line, PLACE).verdict).toBe("auto");
  });

  const x = "x='a[$(touch p)]'";
  it.each([
    `${x}; a=(1); declare -A a; a[x]=1`,
    `declare -A m; f() { local m; m[x]=1; }; ${x}; f`,
    `f() { local -A m; m[x]=1; }; f; ${x}; m[x]=1`,
    `${x}; (declare -A q); q[x]=1`,
    `declare -A m; unset m; ${x}; m[x]=1`,
    `declare -A m; for i in 1 2; do ${x}; m[x]=1; unset m; done`,
    `${x}; true || declare -A m; m[x]=1`,
    `${x}; if [ a = b ]; then declare -A m; fi; m[x]=1`,
    "declare -A m; read -r k < f; (( m[$k]++ ))",
    'declare -A m; read -r k < f; unset "m[$k]"',
  ])("ask where bash calculates after all: %j", (line) => {
    expect(judge(line, PLACE).verdict).toBe("ask");
  });
});
