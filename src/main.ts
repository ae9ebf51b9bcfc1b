import { cli } from "./cli/cli.ts";

process.exitCode = await cli(process.argv.slice(2));
