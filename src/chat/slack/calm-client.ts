import { SocketModeClient } from "@slack/socket-mode";
import type { Logger } from "@slack/web-api";
import { messageOf } from "../../core/errors.ts";
import type { Trace } from "../../core/ports.ts";
import { clientOptions } from "./clients.ts";

export interface CalmOptions {
  appToken: string;
  apiUrl: string | null;
  logger: Logger;
  trace: Trace;
  /** Slack asks us to go, with its reason. */
  onGoodbye: (reason: string) => void;
  /** Slack left events out because there were too many. */
  onMissed: () => void;
}

/** What a frame may hold; only what is read here. */
interface Frame {
  type?: string;
  reason?: string;
  envelope_id?: string;
  payload?: { event?: unknown; type?: string };
}

/** A client for one connection. It never reconnects by itself and never throws where nobody catches. */
export class CalmClient extends SocketModeClient {
  readonly #options: CalmOptions;

  constructor(options: CalmOptions) {
    super({
      appToken: options.appToken,
      autoReconnectEnabled: false,
      logger: options.logger,
      clientOptions: clientOptions(options.apiUrl, 0, 10_000),
    });
    this.#options = options;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    try {
      const frame = typeof data === "string" ? frameOf(data) : null;
      if (frame?.type === "disconnect") this.#options.onGoodbye(frame.reason ?? "disconnect");
      // `app_rate_limited` carries no event, which the client does not expect.
      if (frame?.type === "events_api" && !frame.payload?.event) this.#takeWithoutEvent(frame);
      else await super.onWebSocketMessage(data, isBinary);
    } catch (error) {
      this.#options.trace.error("slack.frame-failed", { error: messageOf(error) });
    }
  }

  #takeWithoutEvent(frame: Frame): void {
    const { trace, onMissed } = this.#options;
    trace.warn("slack.events-left-out", { type: frame.payload?.type ?? "unknown" });
    this.websocket?.send(JSON.stringify({ envelope_id: frame.envelope_id }), (error) => {
      if (error) trace.warn("slack.ack-failed", { error: messageOf(error) });
    });
    onMissed();
  }

  /** Closes politely, and for good after `graceMs`. */
  async end(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([this.disconnect(), late]);
    clearTimeout(timer);
    // Asked a second time while it is closing, the socket lets go, and its own timer of 30 s with it.
    if (this.websocket?.readyState !== undefined) this.websocket.disconnect();
  }
}

function frameOf(data: string): Frame | null {
  try {
    return JSON.parse(data) as Frame | null;
  } catch {
    // The client says so itself and goes on.
    return null;
  }
}
