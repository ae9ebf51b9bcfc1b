import type { Acts } from "../control.ts";
import type { Fault } from "./faults.ts";
import type { Press, Submission } from "./interact.ts";
import type { Saying } from "./people.ts";
import type { TwinUser } from "./state.ts";
import type { SlackTwin } from "./surface.ts";

/** What another process may do with the twin. */
export function controlActs(twin: SlackTwin): Acts {
  return {
    addUser: (args) => twin.addUser(args as unknown as TwinUser),
    addChannel: (args) => twin.addChannel(args as { id: string; name: string }),
    say: (args) => twin.say(args as unknown as Saying),
    edit: (args) => twin.editMessage(args as { channel: string; ts: string; text: string }),
    delete: (args) => twin.deleteMessage(args as { channel: string; ts: string }),
    press: (args) => twin.press(args as unknown as Press),
    views: () => twin.views(),
    submitView: (args) => twin.submitView(args as unknown as Submission),
    archive: (args) => twin.archive(String(args.channel)),
    kickBot: (args) => twin.kickBot(String(args.channel)),
    revokeTokens: () => twin.revokeTokens(),
    thread: (args) => twin.thread(String(args.channel), String(args.ts)),
    messages: (args) => twin.messages(String(args.channel)),
    ephemerals: () => twin.ephemerals(),
    file: (args) => {
      const file = twin.file(String(args.id));
      return file && { name: file.name, base64: file.content.toString("base64") };
    },
    sockets: () => twin.sockets(),
    disconnect: (args) => twin.disconnect(String(args.reason ?? "refresh_requested"), args.count as number | undefined),
    drop: (args) => twin.dropSockets(args.count as number | undefined),
    redeliver: (args) => twin.redeliver(String(args.eventId)),
    fault: (args) => twin.fault(args as unknown as Fault),
    calls: (args) => twin.calls(args.method as string | undefined),
    events: () => twin.events(),
  };
}
