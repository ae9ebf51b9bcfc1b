/** The bare packages that a process of the product needs, connected and idle; argv: `slack` or `discord`. With `--expose-gc`. */

const platform = process.argv[2] as "slack" | "discord";
const { connection } = await (async () => {
  const { Redis } = await import("ioredis");
  const { Queue, Worker } = await import("bullmq");
  const { default: OpenAI } = await import("openai");
  const { REDIS_URL = "", OPENAI_BASE_URL = "" } = process.env;
  await Promise.all([import("pino"), import("unbash"), import("yaml"), import("zod"), import("undici")]);
  const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
  const open = { connection: redis, prefix: "bare" };
  await new Queue("wake", open).getJobCounts();
  await new Worker("wake", async () => {}, open).waitUntilReady();
  return { connection: redis, model: new OpenAI({ baseURL: OPENAI_BASE_URL, apiKey: "none" }) };
})();
await import(`./bare-${platform}.ts`);

process.on("message", () => {
  for (let time = 0; time < 3; time++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss: rss / 1e6, heap: (heapUsed + external) / 1e6, packages: [connection.status] });
});
