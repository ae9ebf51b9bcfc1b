import type { Acts } from "../control.ts";
import type { Fault } from "./faults.ts";
import type { Press, Submission } from "./interact.ts";
import type { NewChannel, NewThreadByPerson, Saying } from "./people.ts";
import type { Permission } from "./permissions.ts";
import type { TwinUser } from "./state.ts";
import type { DiscordTwin } from "./surface.ts";

/** What another process may do with the twin. */
export function controlActs(twin: DiscordTwin): Acts {
  return {
    about: () => ({ token: twin.token, guildId: twin.guildId, botUserId: twin.botUserId, applicationId: twin.applicationId }),
    addUser: (args) => twin.addUser(args as unknown as TwinUser),
    addRole: (args) => twin.addRole(args as { id: string; name: string }),
    setRoles: (args) => twin.setRoles(String(args.user), args.roles as string[]),
    addChannel: (args) => twin.addChannel(args as unknown as NewChannel),
    setLacks: (args) => twin.setLacks(String(args.channel), args.lacks as Permission[]),
    addThread: (args) => twin.addThread(args as unknown as NewThreadByPerson),
    addToThread: (args) => twin.addToThread(String(args.thread), String(args.user)),
    archiveThread: (args) => twin.archiveThread(String(args.id), args.archived as boolean | undefined),
    lockThread: (args) => twin.lockThread(String(args.id), args.locked as boolean | undefined),
    redeliver: (args) => twin.redeliver(args as { channel: string; id: string }),
    deleteChannel: (args) => twin.deleteChannel(String(args.id)),
    say: (args) => twin.say(args as unknown as Saying),
    edit: (args) => twin.editMessage(args as { channel: string; id: string; text: string }),
    delete: (args) => twin.deleteMessage(args as { channel: string; id: string }),
    press: (args) => twin.press(args as unknown as Press),
    modals: () => twin.modals(),
    submitModal: (args) => twin.submitModal(args as unknown as Submission),
    thread: (args) => twin.thread(String(args.id)),
    messages: (args) => twin.messages(String(args.channel)),
    threads: (args) => twin.threads(args.channel as string | undefined),
    ephemerals: () => twin.ephemerals(),
    reactions: () => twin.reactions(),
    typing: () => twin.typing(),
    file: (args) => {
      const file = twin.file(String(args.id));
      return file && { name: file.name, base64: file.content.toString("base64") };
    },
    advance: (args) => twin.advance(Number(args.ms)),
    sockets: () => twin.sockets(),
    sessions: () => twin.sessions(),
    drop: () => twin.drop(),
    reconnect: () => twin.reconnect(),
    invalidateSession: (args) => twin.invalidateSession(args.resumable === true),
    closeWith: (args) => twin.closeWith(Number(args.code), args.reason as string | undefined),
    muteHeartbeats: (args) => twin.muteHeartbeats(args.muted === true),
    revokeToken: () => twin.revokeToken(),
    fault: (args) => twin.fault(args as unknown as Fault),
    calls: (args) => twin.calls(args.route as string | undefined),
    invalidRequests: () => twin.invalidRequests(),
    events: () => twin.events(),
  };
}
