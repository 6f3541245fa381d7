/**
 * Messages of a few lines, as HTML and as text. Mail programs know little of CSS: the layout is a table, colours are in
 * attributes of elements, and those of dark programs are in the one rule that such programs know.
 */
import { html, Markup } from '../http/html.ts';

export interface Letter {
  title: string;
  lines: string[];
  /** The one thing to do. */
  action?: { label: string; url: string };
  /** In smaller letters, at the end. */
  foot?: string[];
}

const FONT =
  "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,'Hiragino Sans','Noto Sans JP',sans-serif";

/** The classes are those that `mailPage` makes dark. */
export const STYLES = {
  title: `margin:0 0 16px;${FONT};font-size:20px;line-height:28px;font-weight:600;color:#171a21`,
  text: `margin:0 0 16px;${FONT};font-size:15px;line-height:24px;color:#171a21`,
  small: `margin:0 0 8px;${FONT};font-size:13px;line-height:20px;color:#5b6270`,
  button: `display:inline-block;padding:10px 18px;border-radius:6px;background:#3451c6;${FONT};font-size:15px;line-height:24px;font-weight:600;color:#ffffff;text-decoration:none`,
};

const DARK = `@media (prefers-color-scheme:dark){
.page{background:#0e1014!important}.card{background:#171a21!important;border-color:#2b303b!important}
.ink{color:#e9ebf0!important}.pale{color:#a4abb8!important}.line{border-color:#2b303b!important}
.button{background:#91a6ff!important;color:#14171d!important}.link{color:#91a6ff!important}
.good{color:#4fcf9f!important}.bad{color:#ff8f84!important}.same{color:#a4abb8!important}}`;

export function letterOf({ title, lines, action, foot = [] }: Letter): { html: string; text: string } {
  return {
    text: [title, ...lines, ...(action ? [`${action.label}: ${action.url}`] : []), ...foot].join('\n\n'),
    html: mailPage(
      title,
      html`<h1 class="ink" style="${STYLES.title}">${title}</h1>
${lines.map((line) => html`<p class="ink" style="${STYLES.text}">${line}</p>`)}
${action && button(action)}
${foot.map((line) => html`<p class="pale" style="${STYLES.small}">${line}</p>`)}`,
    ),
  };
}

export const button = ({ label, url }: { label: string; url: string }) =>
  html`<p style="margin:0 0 24px"><a class="button" href="${url}" style="${STYLES.button}">${label}</a></p>`;

/** A page of one card in the middle, at most as wide as given. */
export const mailPage = (title: string, content: Markup, { width = 560, lang = 'en' } = {}): string =>
  html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${new Markup(DARK)}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f5f7">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f4f5f7"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${width}px;background:#ffffff;border:1px solid #e3e5ea;border-radius:8px"><tr><td style="padding:28px">
${content}
</td></tr></table>
</td></tr></table>
</body>
</html>
`.text;
