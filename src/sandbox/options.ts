import type { Credential } from "./credentials.ts";
import type { ProxyOptions } from "./proxy.ts";
import type { WorkspaceOptions } from "./workspace.ts";

export interface SandboxOptions extends WorkspaceOptions {
  /** Values that no output may show. */
  secrets?: string[];
  /** Output beyond this many bytes ends a command. */
  floodBytes?: number;
  /** Commands are ended when this process shows no life for so many milliseconds: somebody else has its work by then. */
  quietMs?: number;
  /** By workspace path. Every workspace is there, with or without extras. */
  extras?: ReadonlyMap<string, WorkspaceExtras>;
  /** How names are looked up and which addresses count as public; for tests. */
  network?: Pick<ProxyOptions, "lookup" | "isPublic">;
  /** Hears of what failed without harm to any command. */
  warn?: (event: string, fields: Record<string, unknown>) => void;
}

/** What a workspace's configuration gives to each of its commands, and what it may give to an approved one. */
export interface WorkspaceExtras {
  /** Folders that commands may read, such as a toolchain. */
  read: readonly string[];
  /** Hosts that commands may connect to without asking. */
  network: readonly { host: string; port: number }[];
  credentials: Readonly<Record<string, Credential & { value: string }>>;
}
