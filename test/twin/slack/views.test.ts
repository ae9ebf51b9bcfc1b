import { expect, test } from "vitest";
import type { SlackTwin } from "../../../src/twin/slack/twin.ts";
import type { Args, Envelope } from "./harness.ts";
import { approveCard, call, openSocket, post, startTwin } from "./harness.ts";

/** Modals: the trigger ids that open them, their limits, what comes back. */

const text = (length: number): Args => ({ type: "plain_text", text: "x".repeat(length) });
const input = { type: "input", block_id: "cmd", label: text(1), element: { type: "plain_text_input", action_id: "value" } };
const modal = (extra: Args = {}): Args => ({ type: "modal", title: text(24), submit: text(24), blocks: [input], ...extra });

/** A twin, a socket that acknowledges with `response`, and a fresh trigger id from a press. */
async function pressed(response: Args = {}): Promise<{ twin: SlackTwin; trigger: () => Promise<string>; heard: Envelope[] }> {
  const twin = await startTwin();
  const socket = await openSocket(twin, (envelope, self) => self.ack(envelope, envelope.accepts_response_payload ? response : {}));
  const ts = await post(twin, { blocks: approveCard });
  const trigger = async (): Promise<string> => {
    await twin.press({ channel: "C1", ts, actionId: "approve", user: "U1" });
    return socket.heard.at(-1)?.payload.trigger_id as string;
  };
  return { twin, trigger, heard: socket.heard };
}

test.each<[string, Args, string]>([
  ["title 24", { title: text(25) }, "must be less than 25 characters [json-pointer:/view/title/text]"],
  ["submit 24", { submit: text(25) }, "must be less than 25 characters [json-pointer:/view/submit/text]"],
  ["close 24", { close: text(25) }, "must be less than 25 characters [json-pointer:/view/close/text]"],
  [
    "private_metadata 3000",
    { private_metadata: "x".repeat(3001) },
    "must be less than 3001 characters [json-pointer:/view/private_metadata]",
  ],
  ["callback_id 255", { callback_id: "x".repeat(256) }, "must be less than 256 characters [json-pointer:/view/callback_id]"],
  [
    "100 blocks",
    { blocks: Array.from({ length: 101 }, () => ({ type: "divider" })) },
    "no more than 100 items allowed [json-pointer:/view/blocks]",
  ],
  [
    "initial value 3000",
    { blocks: [{ ...input, element: { type: "plain_text_input", initial_value: "x".repeat(3001) } }] },
    "must be less than 3001 characters [json-pointer:/view/blocks/0/element/initial_value]",
  ],
  ["an input needs a submit", { submit: undefined }, "submit is required when an input is in blocks [json-pointer:/view/submit]"],
])("a modal's limit: %s", async (_name, wrong, says) => {
  const { twin, trigger } = await pressed();
  const trigger_id = await trigger();
  const refused = await call(twin, "views.open", { trigger_id, view: modal(wrong) });
  expect(refused).toMatchObject({ ok: false, error: "invalid_arguments" });
  expect(refused.response_metadata?.messages).toContain(`[ERROR] ${says}`);
  const taken = await call(twin, "views.open", {
    trigger_id,
    view: modal({ private_metadata: "x".repeat(3000), callback_id: "x".repeat(255) }),
  });
  expect(taken).toMatchObject({ ok: true, view: { type: "modal" } });
});

test("a trigger id works once, and a made-up one never", async () => {
  const { twin, trigger } = await pressed();
  const trigger_id = await trigger();
  expect(await call(twin, "views.open", { trigger_id, view: modal() })).toMatchObject({ ok: true });
  expect(await call(twin, "views.open", { trigger_id, view: modal() })).toMatchObject({ error: "exchanged_trigger_id" });
  expect(await call(twin, "views.open", { trigger_id: "1.2.abc", view: modal() })).toMatchObject({ error: "invalid_trigger_id" });
});

test("a trigger id is too old after three seconds", async () => {
  const { twin, trigger } = await pressed();
  const trigger_id = await trigger();
  await new Promise((resolve) => setTimeout(resolve, 3_050));
  expect(await call(twin, "views.open", { trigger_id, view: modal() })).toMatchObject({ error: "expired_trigger_id" });
});

test("a sent modal comes with its values, and the app's answer is kept", async () => {
  const errors = { response_action: "errors", errors: { cmd: "no" } };
  const { twin, trigger, heard } = await pressed(errors);
  await call(twin, "views.open", { trigger_id: await trigger(), view: modal({ private_metadata: "a1" }) });
  const viewId = twin.views()[0]?.id as string;
  const outcome = await twin.submitView({ viewId, user: "U1", values: { cmd: { value: "ls" } } });
  expect(outcome).toMatchObject({ acked: true, response: errors });
  expect(heard.at(-1)?.payload).toMatchObject({
    type: "view_submission",
    view: { id: viewId, private_metadata: "a1", state: { values: { cmd: { value: { value: "ls" } } } } },
  });
  expect(twin.views()).toHaveLength(1);
});

test("views.update changes a modal unless it has changed meanwhile", async () => {
  const { twin, trigger } = await pressed();
  const opened = await call(twin, "views.open", { trigger_id: await trigger(), view: modal() });
  const { id, hash } = opened.view as { id: string; hash: string };
  expect(await call(twin, "views.update", { view_id: id, hash, view: modal({ title: text(3) }) })).toMatchObject({ ok: true });
  expect(twin.views()[0]).toMatchObject({ title: { text: "xxx" } });
  expect(await call(twin, "views.update", { view_id: id, hash, view: modal() })).toMatchObject({ error: "hash_conflict" });
  expect(await call(twin, "views.update", { view_id: "V9", view: modal() })).toMatchObject({ error: "not_found" });
});
