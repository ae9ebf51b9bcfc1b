import { describe, expect, test } from "vitest";
import { type ErrorCode, DeckhandError } from "../../src/core/errors.ts";
import { isEntry } from "../../src/core/entry.ts";
import { intake } from "../../src/core/intake.ts";
import type { Model, ModelRequest } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { delta, finish, startFaultServer } from "../model/fault-server.ts";
import { callOf, type Guarded, openGuarded } from "../support/guarded.ts";
import { ann } from "../support/random-log.ts";

const RETRY = { tries: 3, baseMs: 1, maxMs: 1, retryAfterMaxMs: 1_000 };
const usage = { prompt: null, completion: null, cached: null };
const PICTURE = new TextEncoder().encode("a picture");

/** A service that refuses every request with something in it, whatever it calls that; `n` counts what it answered. */
function refusing(isRefused: (all: string) => boolean, error: () => Error, text: (n: number) => string = () => "fine") {
  const requests: ModelRequest[] = [];
  let n = 0;
  const model: Model = {
    name: "m",
    window: async () => 100_000,
    async ask(request) {
      requests.push(request);
      if (isRefused(JSON.stringify(request.messages))) throw error();
      const said = text(n++);
      const answer = { text: said, calls: [], finish: "stop" as const, usage, model: "m" };
      return said.startsWith("$ ") ? { ...answer, text: "", calls: [callOf(said.slice(2))], finish: "calls" } : answer;
    },
  };
  return { model, requests };
}

let events = 0;

/** Ann writes, with a picture that was fetched. */
async function showPicture(deck: Guarded): Promise<void> {
  const event = `picture-${(events += 1)}`;
  const file = { name: "x.png", type: "image/png", bytes: PICTURE.length, url: "u" };
  await intake({ event, thread: deck.thread, by: ann, kind: "mention", text: "look", files: [file] }, deck.deps);
  const of = (await deck.entries()).findLast((entry) => isEntry(entry, "message"))?.seq ?? 0;
  await deck.log.putBlob(event, PICTURE, 1e9);
  const files = [{ name: "x.png", bytes: PICTURE.length, as: "picture" as const, type: "image/png", blob: event }];
  const entry = { type: "received" as const, of, parent: of, files };
  await deck.log.ingest({ conversation: deck.thread.key, event: `${event}/got`, at: deck.now, entry, wakes: true });
}

async function play(deck: Guarded, ...texts: string[]): Promise<unknown[]> {
  const ends: unknown[] = [];
  for (const text of texts) {
    await deck.say(text);
    await deck.work();
    const last = await deck.last();
    ends.push(last && isEntry(last, "failed") ? last.code : last?.type);
  }
  return ends;
}

const GONE = "I go on without";
const lines = async (deck: Guarded) => (await deck.posts()).filter((post) => post.includes(GONE));

describe("a picture that the model's service does not take", () => {
  const refusals: [number, unknown][] = [
    [400, { error: { message: "You uploaded an unsupported image.", code: "invalid_image_format" } }],
    [400, { error: { message: "Could not process it" } }],
    [422, { detail: [{ loc: ["body", "messages", 1, "content", "str"], msg: "Input should be a valid string" }] }],
    [404, { error: { message: "No endpoint of that kind" } }],
    [413, { error: { message: "Request entity too large" } }],
    [400, "no"],
    [500, { error: { message: "cannot identify <_io.BytesIO object at 0x7f>" } }],
    [503, ""],
  ];
  test.each(refusals)("is left out from then on, whatever the refusal says: %s %j", async (status, body) => {
    const server = await startFaultServer();
    server.next = (line, sent) => {
      if (line.startsWith("GET")) return { status: 404, body: "" };
      if (JSON.stringify(sent["messages"]).includes("image_url")) return { status, body: JSON.stringify(body) };
      return { frames: [delta({ content: "fine" }), finish("stop"), "[DONE]"] };
    };
    const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m", window: 100_000 });
    const deck = openGuarded({ model, hands: { retry: RETRY } });
    await showPicture(deck);
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", text: "fine" });
    expect(await lines(deck)).toHaveLength(status === 413 ? 0 : 1);
    const asked = server.bodies.length;
    expect(await play(deck, "and now?", "and then?")).toEqual(["final", "final"]);
    expect(server.bodies.length).toBe(asked + 2);
    expect(JSON.stringify(server.bodies.at(-1))).toContain("A picture was attached");
    await server.close();
  });

  test.each(["MODEL_AUTH", "MODEL_QUOTA", "MODEL_BUSY"] as const)("stays when %s is the cause", async (code) => {
    let isAway = true;
    const { model, requests } = refusing(
      () => isAway,
      () => new DeckhandError(code),
    );
    const deck = openGuarded({ model });
    await showPicture(deck);
    await deck.work();
    expect(requests).toHaveLength(1);
    isAway = false;
    expect(await play(deck, "now?")).toEqual(["final"]);
    expect(JSON.stringify(requests.at(-1))).toContain("images");
  });

  test("stays when the service is away, with it or without it", async () => {
    let isAway = true;
    const { model, requests } = refusing(
      () => isAway,
      () => new DeckhandError("MODEL_DOWN", "503", { retryAfterMs: 0 }),
    );
    const deck = openGuarded({ model, hands: { retry: RETRY } });
    await showPicture(deck);
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "failed", code: "MODEL_DOWN" });
    isAway = false;
    expect(await play(deck, "now?")).toEqual(["final"]);
    expect(JSON.stringify(requests.at(-1))).toContain("images");
    expect(await lines(deck)).toEqual([]);
  });

  test("keeps no later one from being shown", async () => {
    const { model, requests } = refusing(
      (all) => all.includes(btoa("a picture")) && !all.includes("better"),
      () => new DeckhandError("MODEL_REFUSED", "no"),
    );
    const deck = openGuarded({ model });
    await showPicture(deck);
    await deck.work();
    await deck.say("a better one");
    await showPicture(deck);
    await deck.work();
    const shown = requests.at(-1)?.messages.filter((each) => each.role === "user" && each.images);
    expect(shown).toHaveLength(1);
  });
});

const CODES: ErrorCode[] = ["MODEL_FILTER", "MODEL_REFUSED", "MODEL_HISTORY"];

describe.each(CODES)("what is refused with %s", (code) => {
  const refuse = () => new DeckhandError(code, "why");
  const isFlagged = (all: string) => all.includes("FLAGGED");

  test("is the newest output: the turn goes on without it, and so do later ones; model and thread are told", async () => {
    const { model, requests } = refusing(isFlagged, refuse, (n) => (n === 0 ? "$ cat x" : "fine"));
    const deck = openGuarded({ model, prints: () => "FLAGGED" });
    expect(await play(deck, "go", "and now?", "and then?")).toEqual(["final", "final", "final"]);
    expect(await lines(deck)).toHaveLength(1);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("The output of this command was taken out, because");
    expect(requests).toHaveLength(5);
  });

  test.each(["$ echo FLAGGED", "FLAGGED"])("is what the model itself said, %s: later turns work", async (said) => {
    const { model, requests } = refusing(isFlagged, refuse, (n) => (n === 0 ? said : "fine"));
    const deck = openGuarded({ model });
    expect(await play(deck, "go", "and now?", "and then?")).toEqual(["final", "final", "final"]);
    expect(requests.at(-1)?.messages.filter(({ content }) => content?.includes("Ann:"))).toHaveLength(3);
  });

  test("is what the repository says: the turn goes on without it", async () => {
    const { model, requests } = refusing(isFlagged, refuse);
    const deck = openGuarded({ model, notes: "FLAGGED" });
    expect(await play(deck, "go", "and now?")).toEqual(["final", "final"]);
    expect(requests).toHaveLength(3);
  });

  test("is a summary: the turn goes on without it", async () => {
    const work = refusing(isFlagged, refuse, (n) => (n < 40 ? `$ echo ${n} ${"x".repeat(400)}` : "fine"));
    const model: Model = {
      ...{ name: "m", window: async () => 8_192 },
      ask: (request, options) =>
        request.choice === "none"
          ? Promise.resolve({ text: "FLAGGED", calls: [], finish: "stop", usage, model: "m" })
          : work.model.ask(request, options),
    };
    const deck = openGuarded({ model });
    expect(await play(deck, "go", "and now?")).toEqual(["final", "final"]);
    expect((await deck.entries()).some((entry) => isEntry(entry, "compacted") && entry.summary === "FLAGGED")).toBe(true);
  });

  test("is what a person wrote: that turn fails, and the next one works", async () => {
    const { model, requests } = refusing(isFlagged, refuse);
    const deck = openGuarded({ model });
    expect(await play(deck, "FLAGGED", "hello", "and now?")).toEqual([code, "final", "final"]);
    expect(await lines(deck)).toHaveLength(1);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("what somebody wrote here was taken out");
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("Ann: hello");
  });

  test("is nothing that was said: nothing is taken out", async () => {
    let isBroken = true;
    const { model, requests } = refusing(() => isBroken, refuse);
    const deck = openGuarded({ model });
    expect(await play(deck, "one", "two")).toEqual([code, code]);
    isBroken = false;
    expect(await play(deck, "three")).toEqual(["final"]);
    const told = JSON.stringify(requests.at(-1)?.messages);
    expect(told).toMatch(/Ann: one.*Ann: two.*Ann: three/);
  });
});
