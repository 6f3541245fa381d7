/** The mail with a dashboard: its figures and a table as text, beside the picture, for one reader. */
import { html, type Markup } from '../../platform/http/html.ts';
import { button, mailPage, STYLES } from '../../platform/mail/letter.ts';
import type { MailAttachment } from '../../platform/mail/mail.ts';
import type { HeadlineFigure, Rendering, SmallTable } from './renderings.ts';

export interface DashboardMail {
  rendering: Pick<
    Rendering,
    'bytes' | 'contentType' | 'width' | 'height' | 'title' | 'inForce' | 'asOf' | 'figures' | 'table'
  >;
  locale: string;
  /** The title of the dashboard, if there is none. */
  subject?: string | undefined;
  /** Where the reader opens the dashboard, if there is such a page for them. */
  link?: string | undefined;
  /** A page on which the reader stops these mails. */
  unsubscribeUrl?: string | undefined;
  /** Why the reader gets it, such as "Every Monday at 9:00". */
  schedule?: string | undefined;
}

export interface ComposedMail {
  subject: string;
  text: string;
  html: string;
  attachments: MailAttachment[];
}

const en = {
  open: 'Open the dashboard',
  asOf: 'Data as of {time}',
  more: 'and {count} more',
  attached: 'The dashboard is attached as PDF.',
  schedule: 'You get this mail by a schedule: {schedule}.',
  unsubscribe: 'Stop these mails',
};
type Texts = typeof en;
const TEXTS: Record<string, Texts> = {
  en,
  de: {
    open: 'Dashboard öffnen',
    asOf: 'Datenstand: {time}',
    more: 'und {count} weitere',
    attached: 'Das Dashboard ist als PDF angehängt.',
    schedule: 'Sie erhalten diese Mail nach einem Zeitplan: {schedule}.',
    unsubscribe: 'Diese Mails abbestellen',
  },
  es: {
    open: 'Abrir el panel',
    asOf: 'Datos a fecha de {time}',
    more: 'y {count} más',
    attached: 'El panel se adjunta como PDF.',
    schedule: 'Recibe este correo según una programación: {schedule}.',
    unsubscribe: 'Dejar de recibir estos correos',
  },
  fr: {
    open: 'Ouvrir le tableau de bord',
    asOf: 'Données au {time}',
    more: 'et {count} autres',
    attached: 'Le tableau de bord est joint au format PDF.',
    schedule: 'Vous recevez ce message selon une planification : {schedule}.',
    unsubscribe: 'Ne plus recevoir ces messages',
  },
  ja: {
    open: 'ダッシュボードを開く',
    asOf: '{time} 時点のデータ',
    more: 'ほか {count} 件',
    attached: 'ダッシュボードを PDF で添付しています。',
    schedule: 'このメールはスケジュールに従って送信されています: {schedule}',
    unsubscribe: 'このメールの配信を停止する',
  },
};

const sayIn =
  (locale: string) =>
  (key: keyof Texts, values: Record<string, string> = {}) =>
    (TEXTS[locale.split('-')[0]!] ?? en)[key].replaceAll(
      /\{(\w+)\}/g,
      (_all, name: string) => values[name] ?? '',
    );
type Say = ReturnType<typeof sayIn>;

const PICTURE = 'dashboard';
const WIDTH = 680;
const FIGURES_IN_ROW = 2;

export function composeDashboardMail(mail: DashboardMail): ComposedMail {
  const { rendering, locale, link, unsubscribeUrl, schedule } = mail;
  const { title, contentType } = rendering;
  const say = sayIn(locale);
  const isPicture = contentType === 'image/png';
  const name = `${title.replaceAll(/[\p{Cc}"\\/:*?<>|]+/gu, ' ').trim() || PICTURE}.${isPicture ? 'png' : 'pdf'}`;
  return {
    subject: mail.subject || title,
    text: plainTextPart(mail, say),
    html: mailPage(
      title,
      html`<h1 class="ink" style="${STYLES.title};margin-bottom:4px">${title}</h1>
<p class="pale" style="${STYLES.small}">${say('asOf', { time: rendering.asOf })}</p>
${rendering.inForce.length > 0 && html`<p class="pale" style="${STYLES.small}">${rendering.inForce.map(({ title, text }, i) => html`${i > 0 && ' · '}${title}: <b class="ink" style="color:#171a21">${text}</b>`)}</p>`}
${figuresMarkup(rendering.figures)}
${isPicture ? pictureMarkup(mail) : html`<p class="ink" style="${STYLES.text};margin-top:16px">${say('attached')}</p>`}
${rendering.table && tableMarkup(rendering.table, say)}
${link && html`<div style="height:20px"></div>${button({ label: say('open'), url: link })}`}
${schedule && html`<p class="pale" style="${STYLES.small};margin-top:16px">${say('schedule', { schedule })}</p>`}
${unsubscribeUrl && html`<p class="pale" style="${STYLES.small}"><a class="link" href="${unsubscribeUrl}" style="color:#3451c6">${say('unsubscribe')}</a></p>`}`,
      { width: WIDTH, lang: locale },
    ),
    attachments: [
      {
        filename: name,
        contentType,
        content: rendering.bytes,
        ...(isPicture ? { cid: PICTURE } : {}),
      },
    ],
  };
}

/** Also a link: on a phone, the picture is too small to read. */
function pictureMarkup({ rendering, link }: DashboardMail): Markup {
  const { title, width, height } = rendering;
  const shown = WIDTH - 56;
  const image = html`<img src="cid:${PICTURE}" alt="${title}" width="${shown}" height="${Math.round((height / width) * shown)}" style="display:block;width:100%;height:auto;border:0;border-radius:6px">`;
  return html`<div style="margin-top:16px">${link ? html`<a href="${link}">${image}</a>` : image}</div>`;
}

const CELL = 'padding:8px 0;vertical-align:top';
const CHANGES = { good: '#0b7a55', bad: '#c2362b', same: '#5b6270' };

function figuresMarkup(figures: readonly HeadlineFigure[]): Markup | false {
  if (figures.length === 0) return false;
  const rows = Array.from({ length: Math.ceil(figures.length / FIGURES_IN_ROW) }, (_, i) =>
    figures.slice(i * FIGURES_IN_ROW, (i + 1) * FIGURES_IN_ROW),
  );
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:8px">
${rows.map((row) => html`<tr>${row.map(figureMarkup)}</tr>`)}
</table>`;
}

function figureMarkup({ title, text, change }: HeadlineFigure): Markup {
  const kind = change?.isGood === undefined ? 'same' : change.isGood ? 'good' : 'bad';
  return html`<td width="50%" style="${CELL}"><p class="pale" style="${STYLES.small};margin:0">${title}</p>
<p class="ink" style="${STYLES.title};margin:0;font-size:24px;line-height:32px">${text}</p>
${change && html`<p class="pale" style="${STYLES.small};margin:0">${change.text && html`<b class="${kind}" style="color:${CHANGES[kind]}">${change.text}</b> `}${change.note}</p>`}</td>`;
}

function tableMarkup({ title, columns, rows, more }: SmallTable, say: Say): Markup {
  const cell = `${STYLES.small};margin:0;padding:6px 8px;border-bottom:1px solid #e3e5ea`;
  return html`<h2 class="ink" style="${STYLES.text};margin:24px 0 4px;font-weight:600">${title}</h2>
<table width="100%" cellpadding="0" cellspacing="0" border="0" style="border-collapse:collapse">
<tr>${columns.map((column) => html`<th class="pale line" align="${column.align}" style="${cell};font-weight:500">${column.title}</th>`)}</tr>
${rows.map((row) => html`<tr>${row.map((text, i) => html`<td class="ink line" align="${columns[i]!.align}" style="${cell};color:#171a21">${text}</td>`)}</tr>`)}
</table>
${more > 0 && html`<p class="pale" style="${STYLES.small};margin-top:6px">${say('more', { count: String(more) })}</p>`}`;
}

function plainTextPart({ rendering, link, unsubscribeUrl, schedule }: DashboardMail, say: Say): string {
  const { title, asOf, inForce, figures, table } = rendering;
  const blocks = [
    title,
    [say('asOf', { time: asOf }), ...inForce.map((each) => `${each.title}: ${each.text}`)].join('\n'),
    figures
      .map(({ title, text, change }) =>
        [`${title}: ${text}`, change && `(${[change.text, change.note].filter(Boolean).join(' ')})`]
          .filter(Boolean)
          .join(' '),
      )
      .join('\n'),
    table &&
      [
        table.title,
        table.columns.map(({ title }) => title).join(' | '),
        ...table.rows.map((row) => row.join(' | ')),
        ...(table.more > 0 ? [say('more', { count: String(table.more) })] : []),
      ].join('\n'),
    link && `${say('open')}: ${link}`,
    schedule && say('schedule', { schedule }),
    unsubscribeUrl && `${say('unsubscribe')}: ${unsubscribeUrl}`,
  ];
  return blocks.filter(Boolean).join('\n\n');
}
