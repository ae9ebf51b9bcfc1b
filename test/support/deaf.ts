import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface Deaf {
  url: string;
  /** Messages that were not passed on. */
  swallowed(): number;
  stop(): Promise<void>;
}

/** A proxy in front of Redis through which everything works but pub/sub: what is published does not arrive. */
export async function deafProxy(port: number): Promise<Deaf> {
  const open = new Set<Socket>();
  let swallowed = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    open.add(client).add(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.pipe(upstream);
    // A message comes in a piece of its own: nothing else is said on a connection that only listens.
    upstream.on("data", (data) => {
      if (/^[>*]3\r\n\$7\r\nmessage\r\n/.test(data.toString("latin1"))) swallowed += 1;
      else client.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallowed: () => swallowed,
    async stop() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}
