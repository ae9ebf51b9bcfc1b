import { afterEach, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe.each(PLATFORMS)("files that come with a message on %s", (platform) => {
  let deck: Corridor;
  afterEach(() => deck.close());

  test("reach the workspace and the model's eyes; what is not taken is told", async () => {
    deck = await openCorridor({
      platform,
      rules: [{ when: /what is in these/, steps: [() => bash("cat inbox/notes.txt"), ({ lastResult }) => say(`It says ${lastResult}`)] }],
    });
    const files = [
      { name: "notes.txt", content: "buy bread\n" },
      { name: "shot.png", content: PNG },
      { name: "all.zip", content: Buffer.from("PK\u0003\u0004\u0000") },
    ];
    const said = await deck.mention("what is in these?", { files });
    await said.shows(/I did not take all\.zip: it is neither text \(UTF-8\) nor a picture/);
    await said.shows(/It says buy bread/);
    expect(deck.files.read("inbox/notes.txt")).toBe("buy bread\n");
    const sent = JSON.stringify(deck.model.requests.map(({ body }) => body));
    expect(sent).toContain(`data:image/png;base64,${PNG.toString("base64")}`);
    expect(sent).toContain(`notes.txt (10 bytes): written to ${deck.workspace}/inbox/notes.txt`);
    const types = (await said.entries()).map(({ type }) => type);
    expect(types.filter((type) => type === "received" || type === "brief" || type === "message")).toEqual(["message", "received", "brief"]);
  }, 60_000);
});
