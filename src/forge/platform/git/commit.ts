/** Author or committer with a date, as recorded in a commit. */
export type Signature = {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970. */
  readonly seconds: number;
  /** Offset as git writes it, for example `+0200`. */
  readonly zone: string;
};

export type CommitData = {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
  /** The signature text, if the commit is signed. */
  readonly signature: string;
  /** The signed text; empty if unsigned. */
  readonly signedText: string;
};

/** Parses a commit object. */
export function parseCommit(id: string, content: Buffer): CommitData {
  const text = content.toString('utf8');
  const gap = text.indexOf('\n\n');
  const head = gap < 0 ? text : text.slice(0, gap);
  const message = gap < 0 ? '' : text.slice(gap + 2);
  const parents: string[] = [];
  const members = new Map<string, string>();
  // Continuation lines start with a space and belong to the header above.
  for (const member of head.split(/\n(?! )/)) {
    const at = member.indexOf(' ');
    const name = member.slice(0, at);
    const value = member.slice(at + 1).replaceAll('\n ', '\n');
    if (name === 'parent') parents.push(value);
    else members.set(name, value);
  }
  const signature = members.get('gpgsig') ?? members.get('gpgsig-sha256') ?? '';
  return {
    id,
    tree: members.get('tree') ?? '',
    parents,
    author: parseSignature(members.get('author') ?? ''),
    committer: parseSignature(members.get('committer') ?? ''),
    message,
    signature,
    signedText: signature === '' ? '' : text.replace(/\ngpgsig(-sha256)? [^\n]*(\n [^\n]*)*/, ''),
  };
}

/** Parses the author, committer or tagger line of a commit or tag object. */
export function parseSignature(text: string): Signature {
  const match = /^(.*?) ?<(.*?)> (-?\d+) ([+-]\d{4})$/s.exec(text);
  return {
    name: match?.[1] ?? '',
    email: match?.[2] ?? '',
    seconds: Number(match?.[3] ?? 0),
    zone: match?.[4] ?? '+0000',
  };
}

/** Formats a signature for a commit or tag object, without characters that would end the field early. */
export function formatSignature(signature: Signature): string {
  const clean = (text: string): string => text.replace(/[<>\n\0]/g, '').trim();
  return `${clean(signature.name)} <${clean(signature.email)}> ${formatDate(signature)}`;
}

/** Returns the time of a signature as git writes it. Times before 1970 become 1970, because git fails to sort them. */
export function formatDate({ seconds, zone }: Signature): string {
  return `${Math.max(0, Math.trunc(seconds))} ${zone}`;
}

/** Returns the time of a signature as RFC 3339 text in its own time zone. */
export function instantOf({ seconds, zone }: Signature): string {
  const sign = zone.startsWith('-') ? -1 : 1;
  const minutes = sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
  const local = new Date((seconds + minutes * 60) * 1000);
  const year = local.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) return '0001-01-01T00:00:00Z';
  const text = local.toISOString().slice(0, 19);
  return minutes === 0 ? `${text}Z` : `${text}${zone.slice(0, 3)}:${zone.slice(3)}`;
}
