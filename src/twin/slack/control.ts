import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "./faults.ts";
import type { Press, Submission } from "./interact.ts";
import type { Saying } from "./people.ts";
import type { TwinUser } from "./state.ts";
import type { SlackTwin } from "./surface.ts";
import { send } from "./web-api.ts";

type Act = (twin: SlackTwin, args: Record<string, unknown>) => unknown;

/** What another process may do: `POST /control/<name>` with the arguments as one JSON object. */
const ACTS: Record<string, Act> = {
  addUser: (twin, args) => twin.addUser(args as unknown as TwinUser),
  addChannel: (twin, args) => twin.addChannel(args as { id: string; name: string }),
  say: (twin, args) => twin.say(args as unknown as Saying),
  edit: (twin, args) => twin.editMessage(args as { channel: string; ts: string; text: string }),
  delete: (twin, args) => twin.deleteMessage(args as { channel: string; ts: string }),
  press: (twin, args) => twin.press(args as unknown as Press),
  views: (twin) => twin.views(),
  submitView: (twin, args) => twin.submitView(args as unknown as Submission),
  archive: (twin, args) => twin.archive(String(args.channel)),
  kickBot: (twin, args) => twin.kickBot(String(args.channel)),
  revokeTokens: (twin) => twin.revokeTokens(),
  thread: (twin, args) => twin.thread(String(args.channel), String(args.ts)),
  messages: (twin, args) => twin.messages(String(args.channel)),
  ephemerals: (twin) => twin.ephemerals(),
  file: (twin, args) => {
    const file = twin.file(String(args.id));
    return file && { name: file.name, base64: file.content.toString("base64") };
  },
  sockets: (twin) => twin.sockets(),
  disconnect: (twin, args) => twin.disconnect(String(args.reason ?? "refresh_requested"), args.count as number | undefined),
  drop: (twin, args) => twin.dropSockets(args.count as number | undefined),
  redeliver: (twin, args) => twin.redeliver(String(args.eventId)),
  fault: (twin, args) => twin.fault(args as unknown as Fault),
  calls: (twin, args) => twin.calls(args.method as string | undefined),
  events: (twin) => twin.events(),
};

/** 401 without the token, 404 for an unknown act, 400 with the reason when the act throws, else 200 with its result. */
export async function handleControl(
  twin: SlackTwin,
  name: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${twin.controlToken}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return send(response, 401, { error: "the control token is missing or wrong" });
  const act = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
  if (!act) return send(response, 404, { error: `no such act: ${name}` });
  try {
    const args = JSON.parse(body.toString("utf8") || "{}") as Record<string, unknown>;
    send(response, 200, { result: (await act(twin, args)) ?? null });
  } catch (thrown) {
    send(response, 400, { error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}
