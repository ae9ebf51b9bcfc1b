/**
 * What belongs to one line is done one after the other, whether the one before succeeded or not. Two of the same `id`
 * in a row are the same thing twice: they need not wait for each other.
 */
export function lines(): <T>(line: string, id: string, act: () => Promise<T>) => Promise<T> {
  const last = new Map<string, { id: string; before: Promise<unknown>; over: Promise<unknown> }>();
  return async (line, id, act) => {
    const ahead = last.get(line);
    const before = (ahead?.id === id ? ahead.before : ahead?.over) ?? Promise.resolve();
    const mine = before.then(act, act);
    const over = Promise.allSettled([ahead?.over, mine]);
    last.set(line, { id, before, over });
    void over.then(() => last.get(line)?.over === over && last.delete(line));
    return await mine;
  };
}
