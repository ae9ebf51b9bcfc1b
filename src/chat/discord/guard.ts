/** For the guard of the process: what discord.js throws over an event that it does not understand. Ours has it by then. */
export const discordJs = {
  platform: "discord",
  owns: (reason: Error): boolean => {
    // The top of the stack only: below our own listeners stands the SDK too.
    const top = (reason.stack ?? "").split("\n").find((line) => line.trimStart().startsWith("at ")) ?? "";
    return /[\\/]node_modules[\\/](?:discord\.js|@discordjs)[\\/]/.test(top);
  },
};
