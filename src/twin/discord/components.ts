import type { FormError, Json } from "./refusal.ts";

/** Message components as Discord takes them, the older form (rows) and the newer one (flag 1 << 15). */

type Path = (string | number)[];
type Report = (path: Path, code: string, message: string) => void;
type Check = (value: Json, at: Path, report: Report) => void;

const ROW = 1;
const BUTTON = 2;
const SELECT = 3;
export const TEXT_DISPLAY = 10;
const TOP_V2 = [1, 9, 10, 12, 13, 14, 17];
const IN_CONTAINER = [1, 9, 10, 12, 13, 14];
const SELECTS = [3, 5, 6, 7, 8];
const V2_MOST = 40;
const V2_TEXT = 4000;

function text(value: unknown, at: Path, report: Report, max: number, required = true): void {
  if (value === undefined || value === null || value === "") {
    if (required) report(at, "BASE_TYPE_REQUIRED", "This field is required");
  } else if (typeof value !== "string") report(at, "STRING_TYPE_CONVERT", "Could not interpret as string.");
  else if (value.length > max) {
    if (required) report(at, "BASE_TYPE_BAD_LENGTH", `Must be between 1 and ${max} in length.`);
    else report(at, "BASE_TYPE_MAX_LENGTH", `Must be ${max} or fewer in length.`);
  }
}

/** The children under `name`, between 1 and `max`, each of one of these types. */
function children(value: Json, name: string, max: number, types: number[], at: Path, report: Report): void {
  const list = value[name];
  if (!Array.isArray(list) || list.length === 0) return report([...at, name], "BASE_TYPE_REQUIRED", "This field is required");
  if (list.length > max) report([...at, name], "BASE_TYPE_BAD_LENGTH", `Must be between 1 and ${max} in length.`);
  for (const [index, each] of list.entries()) one(each, types, [...at, name, index], report);
}

function one(value: unknown, types: number[], at: Path, report: Report): void {
  const type = typeof value === "object" && value !== null ? (value as Json).type : undefined;
  if (typeof type !== "number" || !types.includes(type))
    report([...at, "type"], "UNION_TYPE_CHOICES", `Value of field "type" must be one of (${types.join(", ")},).`);
  else CHECKS[type]?.(value as Json, at, report);
}

const row: Check = (value, at, report) => {
  const select = Array.isArray(value.components) && value.components.some((each) => SELECTS.includes(Number((each as Json)?.type)));
  children(value, "components", select ? 1 : 5, [BUTTON, ...SELECTS], at, report);
};

const button: Check = (value, at, report) => {
  const { style, label, emoji, custom_id, url } = value;
  if (![1, 2, 3, 4, 5].includes(Number(style)))
    return report([...at, "style"], "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).");
  text(label, [...at, "label"], report, 80, false);
  if ((label === undefined || label === "") && emoji === undefined)
    report(at, "BUTTON_COMPONENT_INVALID_LABEL", "A button needs a label or an emoji");
  if (style === 5) {
    text(url, [...at, "url"], report, 512);
    if (custom_id !== undefined)
      report(at, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified");
  } else {
    text(custom_id, [...at, "custom_id"], report, 100);
    if (url !== undefined) report(at, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified");
  }
  return undefined;
};

const select: Check = (value, at, report) => {
  text(value.custom_id, [...at, "custom_id"], report, 100);
  text(value.placeholder, [...at, "placeholder"], report, 150, false);
  if (value.type !== SELECT) return;
  const options = Array.isArray(value.options) ? (value.options as Json[]) : [];
  if (options.length < 1 || options.length > 25) report([...at, "options"], "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.");
  for (const [index, option] of options.entries()) {
    text(option.label, [...at, "options", index, "label"], report, 100);
    text(option.value, [...at, "options", index, "value"], report, 100);
  }
};

function media(name: string): Check {
  return (value, at, report) => text((value[name] as Json | undefined)?.url, [...at, name, "url"], report, 2048);
}

const CHECKS: Record<number, Check> = {
  [ROW]: row,
  [BUTTON]: button,
  3: select,
  5: select,
  6: select,
  7: select,
  8: select,
  9: (value, at, report) => {
    children(value, "components", 3, [10], at, report);
    one(value.accessory, [BUTTON, 11], [...at, "accessory"], report);
  },
  [TEXT_DISPLAY]: (value, at, report) => text(value.content, [...at, "content"], report, V2_TEXT),
  11: media("media"),
  12: (value, at, report) => {
    const items = Array.isArray(value.items) ? (value.items as Json[]) : [];
    if (items.length < 1 || items.length > 10) report([...at, "items"], "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 10 in length.");
    for (const [index, item] of items.entries()) media("media")(item, [...at, "items", index], report);
  },
  13: media("file"),
  14: () => undefined,
  17: (value, at, report) => children(value, "components", V2_MOST, IN_CONTAINER, at, report),
};

/** Adds what Discord would say against these components. */
export function checkComponents(components: unknown, v2: boolean, errors: FormError[]): void {
  const report: Report = (path, code, message) => errors.push({ path, code, message });
  if (!Array.isArray(components)) return report(["components"], "BASE_TYPE_LIST", "Only iterables may be used in a ListType.");
  if (!v2 && components.length > 5) report(["components"], "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.");
  for (const [index, each] of components.entries()) one(each, v2 ? TOP_V2 : [ROW], ["components", index], report);
  const all = walk(components as Json[], ["components"]);
  if (v2 && all.length > V2_MOST)
    report(["components"], "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", `The number of components exceeds the maximum (${V2_MOST})`);
  const words = all.reduce((sum, { value }) => sum + (value.type === TEXT_DISPLAY ? String(value.content ?? "").length : 0), 0);
  if (v2 && words > V2_TEXT)
    report(["components"], "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", `The text of all components exceeds ${V2_TEXT} characters`);
  const seen = new Set<unknown>();
  for (const { value, at } of all) {
    if (value.custom_id === undefined) continue;
    if (seen.has(value.custom_id))
      report([...at, "custom_id"], "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
    seen.add(value.custom_id);
  }
  return undefined;
}

/** Every component, however deep, with its path. */
export function walk(components: Json[], at: Path = []): { value: Json; at: Path }[] {
  return components.flatMap((value, index) => {
    if (typeof value !== "object" || value === null) return [];
    const here = [...at, index];
    const below = Array.isArray(value.components) ? walk(value.components as Json[], [...here, "components"]) : [];
    const beside = value.accessory ? [{ value: value.accessory as Json, at: [...here, "accessory"] }] : [];
    return [{ value, at: here }, ...below, ...beside];
  });
}
