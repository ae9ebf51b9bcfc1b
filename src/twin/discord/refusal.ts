export type Json = Record<string, unknown>;

/** code -> HTTP status and Discord's words. */
const KNOWN: Record<number, [number, string]> = {
  10003: [404, "Unknown Channel"],
  10004: [404, "Unknown Guild"],
  10007: [404, "Unknown Member"],
  10008: [404, "Unknown Message"],
  10013: [404, "Unknown User"],
  10014: [400, "Unknown Emoji"],
  10015: [404, "Unknown Webhook"],
  10062: [404, "Unknown interaction"],
  30015: [400, "Maximum number of attachments in a message reached (10)"],
  30046: [429, "Maximum number of edits to messages older than 1 hour reached. Try again later"],
  40005: [413, "Request entity too large"],
  40060: [400, "Interaction has already been acknowledged."],
  50001: [403, "Missing Access"],
  50005: [403, "Cannot edit a message authored by another user"],
  50006: [400, "Cannot send an empty message"],
  50007: [403, "Cannot send messages to this user"],
  50008: [400, "Cannot send messages in a non-text channel"],
  50013: [403, "Missing Permissions"],
  50021: [403, "Cannot execute action on a system message"],
  50024: [400, "Cannot execute action on this channel type"],
  50027: [401, "Invalid Webhook Token"],
  50083: [400, "Thread is archived"],
  50109: [400, "The request body contains invalid JSON."],
  160002: [403, "Cannot reply without permission to read message history"],
  160004: [400, "A thread has already been created for this message"],
  160005: [403, "Thread is locked"],
  160006: [400, "Maximum number of active threads reached"],
};

/** An answer in Discord's words: an HTTP status with `{message, code}`, an error tree, headers. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: Json;
  readonly headers: Record<string, string>;

  constructor(status: number, body: Json, headers: Record<string, string> = {}) {
    super(String(body.message));
    this.name = "Refusal";
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function refuse(code: number): Refusal {
  const [status, message] = KNOWN[code] ?? [400, `code ${code}`];
  return new Refusal(status, { message, code });
}

/** The answers without a code of their own: 401, 404, 405. */
export function refuseBare(status: number, words: string): Refusal {
  return new Refusal(status, { message: `${status}: ${words}`, code: 0 });
}

export interface FormError {
  /** `["components", 0, "components", 1, "label"]` */
  path: (string | number)[];
  code: string;
  message: string;
}

/** 50035 with its tree of errors. */
export function refuseForm(errors: FormError[]): Refusal {
  const tree: Json = {};
  for (const { path, code, message } of errors) {
    let at = tree;
    for (const key of path) {
      at[key] ??= {};
      at = at[key] as Json;
    }
    at._errors = [...((at._errors as Json[] | undefined) ?? []), { code, message }];
  }
  return new Refusal(400, { message: "Invalid Form Body", code: 50035, errors: tree });
}
