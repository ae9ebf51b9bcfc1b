import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** What another process may do: `POST /control/<name>` with the arguments as one JSON object. */
export type Acts = Record<string, (args: Record<string, unknown>) => unknown>;

/** 401 without the token, 404 for an unknown act, 400 with the reason when the act throws, else 200 with its result. */
export async function handleControl(
  acts: Acts,
  token: string,
  name: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, said: unknown): void => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify(said));
  };
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return answer(401, { error: "the control token is missing or wrong" });
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (!act) return answer(404, { error: `no such act: ${name}` });
  try {
    const args = JSON.parse(body.toString("utf8") || "{}") as Record<string, unknown>;
    answer(200, { result: (await act(args)) ?? null });
  } catch (thrown) {
    answer(400, { error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}
