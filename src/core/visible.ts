/** Characters that hide, reorder or forge text: controls but newline and tab, zero-width, bidi, BOM, tags. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udfff]|\ud834[\udd73-\udd7a]|\ud82f[\udca0-\udca3]/g;

/** Text as it is, with every character that a reader could not see written out as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.toWellFormed().replace(HIDDEN, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
