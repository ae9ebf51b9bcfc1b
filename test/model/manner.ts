import type { ChatManner } from "../../src/model/wire.ts";
import type { InputManner } from "../../src/model/input.ts";

/** What holds of an endpoint that has taught us nothing. */
export const PLAIN: ChatManner & InputManner = {
  by: "m at here",
  images: true,
  bridge: false,
  single: false,
  content: null,
  reasoning: "echo",
  encrypted: true,
};
