/** Escaped HTML text; any other value is escaped when interpolated. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Filling = Html | string | number | readonly Filling[] | undefined;

/** Creates HTML from a template; interpolated values are escaped, so callers cannot forget it. */
export function html(pieces: TemplateStringsArray, ...fillings: Filling[]): Html {
  return new Html(pieces.map((piece, at) => piece + write(fillings[at])).join(''));
}

function write(filling: Filling): string {
  if (filling === undefined) return '';
  if (filling instanceof Html) return filling.text;
  if (typeof filling === 'object') return filling.map(write).join('');
  return escapeText(String(filling));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
