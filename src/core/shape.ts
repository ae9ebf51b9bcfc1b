/**
 * Reads what somebody sent, as far as it is what we look for. zod does more; but it is 3 MB of memory in every idle process,
 * so only what reads `deckhand.yaml` loads it.
 */

/** A value of it, without what nobody asked for; MISFIT when it is none. */
export type Shape<T> = (value: unknown) => T | typeof MISFIT;

/** What a shape gives. */
export type Fitted<S> = S extends Shape<infer T> ? T : never;

export const MISFIT: unique symbol = Symbol("misfit");

type Fields = Record<string, Shape<unknown>>;
type Left<F> = { [K in keyof F]: undefined extends Fitted<F[K]> ? K : never }[keyof F];
type Read<F> = { [K in Exclude<keyof F, Left<F>>]: Fitted<F[K]> } & { [K in Left<F>]?: Fitted<F[K]> };

export function text(pattern?: RegExp): Shape<string> {
  return (value) => (typeof value === "string" && (pattern === undefined || pattern.test(value)) ? value : MISFIT);
}

export const number: Shape<number> = (value) => (typeof value === "number" && Number.isFinite(value) ? value : MISFIT);

export const flag: Shape<boolean> = (value) => (typeof value === "boolean" ? value : MISFIT);

export function oneOf<const T>(...values: T[]): Shape<T> {
  return (value) => (values.some((each) => each === value) ? (value as T) : MISFIT);
}

/** Where it may be null or missing. */
export function maybe<T>(shape: Shape<T>): Shape<T | null | undefined> {
  return (value) => (value === null || value === undefined ? value : shape(value));
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return MISFIT;
    const all: T[] = [];
    for (const each of value) {
      const read = shape(each);
      if (read === MISFIT) return MISFIT;
      all.push(read);
    }
    return all;
  };
}

/** The first of a list; what the others are does not matter. */
export function firstOf<T>(shape: Shape<T>): Shape<T> {
  return (value) => (Array.isArray(value) ? shape(value[0]) : MISFIT);
}

export function object<F extends Fields>(fields: F): Shape<Read<F>> {
  const all = Object.entries(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return MISFIT;
    const made: Record<string, unknown> = {};
    for (const [name, shape] of all) {
      const read = shape((value as Record<string, unknown>)[name]);
      if (read === MISFIT) return MISFIT;
      if (read !== undefined) made[name] = read;
    }
    return made as Read<F>;
  };
}
