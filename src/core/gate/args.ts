/** What is known of an argument: all of it; that it is an integer; that it is a harmless relative name; nothing. */
export type Kind = "literal" | "number" | "name" | "free";

/** One argument as bash will pass it, as far as the text of the line tells. */
export interface Arg {
  /** As it stands in the line. */
  text: string;
  /** Without its quotes. What is not known stands as in the line; of a number or a name stands one of its kind. */
  value: string;
  kind: Kind;
  /** Whether bash passes exactly `value`, or for a glob the names that match it: the kind is `literal`. */
  literal: boolean;
  /** Where in `value` the first wildcard is; -1 when there is none. */
  glob: number;
  /** A `~` or `$HOME` that stands for a home folder. */
  tilde: boolean;
  /** It may become several words, or none. */
  loose: boolean;
  /** The elements, when it is an array that the line declares. */
  list?: Arg[];
  /** For `<( )`: what stands in the file that it names, as far as the line tells. */
  prints?: { text: string; sure: boolean };
}

/** An argument that is plain text, for words that come out of other text. */
export function literalArg(value: string): Arg {
  return { text: value, value, kind: "literal", literal: true, glob: -1, tilde: false, loose: false };
}

/** An argument of which something is known, but not its text. */
export function kindArg(kind: Kind, text: string, value = kind === "number" ? "0" : kind === "name" ? "x" : text): Arg {
  return { text, value, kind, literal: kind === "literal", glob: -1, tilde: false, loose: false };
}

/** `arg` without its first `count` characters, such as the option name that a value hangs on. */
export function tail(arg: Arg, count: number): Arg {
  return { ...arg, value: arg.value.slice(count), glob: arg.glob < 0 ? -1 : Math.max(0, arg.glob - count) };
}

/** Several words as the one line that a shell makes of them. */
export function join(args: Arg[]): Arg {
  const text = args.map((arg) => arg.value).join(" ");
  const whole = args.every((arg) => arg.literal);
  return { ...literalArg(text), kind: whole ? "literal" : "free", literal: whole };
}
