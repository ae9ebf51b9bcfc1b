import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./tree.ts";

const text = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
interface Service {
  command?: string[];
  ports?: string[];
  volumes?: string[];
  security_opt?: string[];
}
const { services, volumes } = parse(text) as { services: Record<string, Service>; volumes: Record<string, unknown> };

describe("docker-compose.yml", () => {
  test("has Redis, a gateway and a worker", () => {
    expect(Object.keys(services)).toEqual(["redis", "gateway", "worker"]);
  });

  test("keeps Redis durable, closed and on this machine", () => {
    const command = services["redis"]?.command?.at(-1);
    for (const line of ["requirepass $$REDIS_PASSWORD", "appendonly yes", "appendfsync always", "maxmemory-policy noeviction"]) {
      expect(command).toContain(`${line}\n`);
    }
    expect(services["redis"]?.ports).toEqual(["127.0.0.1:6379:6379"]);
  });

  test("gives bubblewrap what it needs, to the worker alone", () => {
    const needed = ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"];
    expect(services["worker"]?.security_opt).toEqual(expect.arrayContaining(needed));
    expect(services["gateway"]?.security_opt).toEqual(["no-new-privileges:true"]);
  });

  test("limits the worker's memory and processes and drops every right of root's", () => {
    expect(services["worker"]).toMatchObject({ mem_limit: "4g", pids_limit: 1024, cap_drop: ["ALL"], init: true });
  });

  test("publishes no port to other machines and mounts no engine's socket", () => {
    const ports = Object.values(services).flatMap((s) => s.ports ?? []);
    expect(ports.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);
    expect(text).not.toContain("docker.sock");
  });

  test("declares each volume that it names", () => {
    const named = Object.values(services).flatMap((s) => (s.volumes ?? []).map((v) => v.split(":")[0]));
    expect(named.filter((v) => v && /^[a-z]+$/.test(v)).every((v) => v && v in volumes)).toBe(true);
  });

  test("explains every setting of a service", () => {
    const lines = text.split("\n");
    const bare = lines.filter(
      (line, i) => /^ {4}[a-z_]+: \S/.test(line) && !line.includes("#") && !/#/.test(lines[i - 1] ?? "") && !repeats(line),
    );
    expect(bare).toEqual([]);
  });
});

/** Said at its first place. */
function repeats(line: string): boolean {
  return /^ {4}(build: \.|restart: unless-stopped|environment: \*environment)$/.test(line);
}
