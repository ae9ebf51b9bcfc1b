/** For the guard of the process: what socket-mode rejects where nobody catches. */
export const socketMode = {
  platform: "slack",
  owns: (reason: Error): boolean =>
    ("code" in reason && String(reason.code).startsWith("slack_socket_mode_")) ||
    /[\\/]@slack[\\/]socket-mode[\\/]/.test(reason.stack ?? ""),
};
