import type { Api, Capabilities, Lesson } from "./capabilities.ts";

/** What a request held that a refusal may be about. */
export interface Sent {
  /** A message with calls and no text. */
  bareCalls: boolean;
  images: boolean;
  reasoning: boolean;
  /** A person's words right behind a result. */
  userAfterTool: boolean;
  manyCalls: boolean;
}

interface Rule {
  /** The vendor's own words. */
  says: RegExp;
  lesson: Lesson;
  /** Only where that can be it. */
  when?: (sent: Sent, can: Capabilities) => boolean;
}

const NEEDS_RESPONSES = /\btools?\b.{0,300}\buse \/?v1\/responses|only (supported|available) in \/?v1\/responses|use the responses api/i;
const NO_RESPONSES =
  /(unknown|unrecognized|invalid|unsupported).{0,20}(url|path|route|endpoint).{0,60}responses|\/responses.{0,40}(not (found|supported|exist|implemented)|no route)|cannot post .{0,60}\/responses|responses api is not (supported|enabled|available)/i;
const CONTENT =
  /content'? field must be a string|'content' field that is not empty|content.{0,80}(valid string|must not be (null|none|empty)|cannot be (null|none|empty)|is required|none\b|null)|empty content is not allowed|text is not set|must (be )?non-?empty|text field is blank|NoneType|text content blocks must|invalid assistant message/i;
const NO_IMAGES =
  /unknown variant `image_url`|images? (url )?(inputs?|content) (is|are) not supported|not support (image|vision|multimodal)|no endpoints found that support image|not a multimodal model|at most 0 image|must provide the mmproj|image_url is only supported|invalid content type.{0,40}image/i;

/** In the order in which they are tried. */
const RULES: Rule[] = [
  { says: NEEDS_RESPONSES, lesson: { name: "api", value: "responses" }, when: (_, { api }) => api === "chat" },
  { says: NO_RESPONSES, lesson: { name: "api", value: "chat" }, when: (_, { api }) => api === "responses" },
  { says: /stream_options/, lesson: { name: "stream_options", value: "left out" }, when: (_, { api }) => api === "chat" },
  { says: refused("tool_choice"), lesson: { name: "tool_choice", value: "left out" } },
  {
    says: /reasoning_content.{0,80}(must be|needs to be) (passed|sent) back|missing reasoning_content/i,
    lesson: { name: "reasoning_content", value: "always" },
  },
  {
    says: /reasoning_content|reasoning_details/,
    lesson: { name: "reasoning_content", value: "left out" },
    when: ({ reasoning }) => reasoning,
  },
  {
    says: /encrypted[_ ]content|reasoning' was provided without|item of type 'reasoning'/i,
    lesson: { name: "encrypted reasoning", value: "left out" },
    when: (_, { api }) => api === "responses",
  },
  { says: refused("include"), lesson: { name: "encrypted reasoning", value: "left out" }, when: (_, { api }) => api === "responses" },
  { says: refused("store"), lesson: { name: "store", value: "left out" }, when: (_, { api }) => api === "responses" },
  { says: NO_IMAGES, lesson: { name: "images", value: "left out" }, when: ({ images }) => images },
  {
    says: /unexpected role '?user'? after role '?tool'?/i,
    lesson: { name: "a message after a result", value: "needs an answer between" },
    when: ({ userAfterTool }) => userAfterTool,
  },
  {
    says: /single tool-?calls? at once|only (one|1) tool call/i,
    lesson: { name: "calls in one message", value: "one" },
    when: ({ manyCalls }) => manyCalls,
  },
  { says: CONTENT, lesson: { name: "content", value: "empty" }, when: ({ bareCalls }, { manner }) => bareCalls && manner.content === null },
  { says: CONTENT, lesson: { name: "content", value: "blank" }, when: ({ bareCalls }, { manner }) => bareCalls && manner.content === "" },
];

/** A field of the request that the vendor does not want. */
function refused(field: string): RegExp {
  const no = "(?:unknown|unsupported|unrecogni[sz]ed|unexpected|extra|not (?:supported|permitted|allowed))";
  return new RegExp(`${no}.{0,80}\\b${field}\\b|\\b${field}\\b.{0,80}${no}`, "i");
}

/** What an endpoint said about a request. */
export interface Refusal {
  words: string;
  status: number | null;
  sent: Sent;
  can: Capabilities;
  /** Where requests go before anything is learned. */
  first: Api;
}

/** What a refusal teaches; null when it is about something else, or when all that it could teach is known already. */
export function lessonIn({ words, status, sent, can, first }: Refusal, isNew: (lesson: Lesson) => boolean): Lesson | null {
  const switched = can.api !== first;
  const nowhere = (status === 404 || status === 405) && (switched || (can.api === "responses" && !/\bmodel\b/i.test(words)));
  const lesson = nowhere
    ? { name: "api", value: switched ? first : "chat" }
    : RULES.find(({ says, when, lesson: each }) => says.test(words) && (when?.(sent, can) ?? true) && isNew(each))?.lesson;
  return lesson && isNew(lesson) ? lesson : null;
}
