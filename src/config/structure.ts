import type { StandingRule } from "../core/rules.ts";
import { type Limits, type Prices, SHIPPED } from "../core/spending.ts";
import type { Models } from "./models.ts";
import type { Workspace } from "./workspaces.ts";

/** What `deckhand.yaml` says. Its rules are tried where they hold, once all workspaces are known. */
export interface Structure {
  workspaces: Workspace[];
  rules(all: Workspace[]): StandingRule[];
  limits: Limits;
  prices: Prices;
  models: Omit<Models, "open">;
}

/** What holds where there is no such file. */
export const NO_FILE: Structure = {
  workspaces: [],
  rules: () => [],
  limits: SHIPPED,
  prices: {},
  models: { all: [], workspaces: {}, channels: {}, fallback: null },
};
