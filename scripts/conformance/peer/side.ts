export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
};

type Value = string | number;

/** One of the two servers: its address, who has which credentials there, and the values that its answers gave. */
export type Side = {
  readonly url: string;
  /** Value of the header `authorization` by person. */
  readonly credentials: Map<string, string>;
  readonly kept: Map<string, Value>;
};

/** A server that does not answer for so long is reported, in milliseconds. */
const patience = 60_000;

/** Returns a side with its administrator; `names` are values that are the same on both sides. */
export function createSide(url: string, adminToken: string, names: Readonly<Record<string, Value>>): Side {
  return {
    url,
    credentials: new Map([['admin', `token ${adminToken}`]]),
    kept: new Map(Object.entries(names)),
  };
}

/** Sends one step and keeps the values it asks for. */
export async function send(side: Side, step: Step): Promise<Reply> {
  const authorization = side.credentials.get(step.as);
  if (authorization === undefined && step.as !== 'anonymous')
    throw new Error(`${step.as} has no credentials`);
  const { body, type } = bodyOf(side, step);
  const response = await fetch(`${side.url}/api/v1${fill(side, step.path)}`, {
    method: step.method,
    redirect: 'manual',
    signal: AbortSignal.timeout(patience),
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const reply = { status: response.status, headers: response.headers, text, json: parse(text) };
  for (const [name, path] of Object.entries(step.keep ?? {})) keep(side, name, memberAt(reply.json, path));
  return reply;
}

function bodyOf(side: Side, { body, raw, upload }: Step): { body?: string | FormData; type?: string } {
  if (raw !== undefined) return { body: raw.text, type: raw.type };
  if (upload !== undefined) {
    const form = new FormData();
    form.set(upload.part, new Blob([upload.text]), upload.name);
    return { body: form };
  }
  if (body === undefined) return {};
  return { body: JSON.stringify(fillDeep(side, body)), type: 'application/json' };
}

function keep(side: Side, name: string, value: unknown): void {
  if (typeof value === 'string' || typeof value === 'number') side.kept.set(name, value);
}

const places = /\$([A-Za-z]+)/g;

/** A value that no answer gave stays a name: the request then asks for what does not exist, on both sides. */
function fill(side: Side, text: string): string {
  return text.replace(places, (whole, name: string) => String(side.kept.get(name) ?? whole.slice(1)));
}

function fillDeep(side: Side, value: unknown): unknown {
  if (typeof value === 'string') {
    const [, name] = /^\$([A-Za-z]+)$/.exec(value) ?? [];
    return name === undefined ? fill(side, value) : (side.kept.get(name) ?? fill(side, value));
  }
  if (Array.isArray(value)) return value.map((one) => fillDeep(side, one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fillDeep(side, one)]));
}

function memberAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * One request that goes to both servers. In `path` and `body`, `$name` stands for a value that an earlier answer of the same
 * server gave, because numbers of rows differ between servers; a text that is nothing else keeps the type of the value.
 */
export type Step = {
  /** A person of the scenario, `admin`, or `anonymous` for a request without credentials. */
  readonly as: string;
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is sent as it stands, with its content type; in place of `body`. */
  readonly raw?: { readonly type: string; readonly text: string };
  /** A file that is sent as a form, in the part of this name. */
  readonly upload?: { readonly part: string; readonly name: string; readonly text: string };
  /** Values of the answer that later steps use: by name, the path of members to it (`commit.sha`, `0.id`). */
  readonly keep?: Readonly<Record<string, string>>;
  /** Lists of the whole instance contain what others made: only rows with the names of this run are compared. */
  readonly isInstanceWide?: boolean;
  /** Rows of the same second come in any order. */
  readonly isUnordered?: boolean;
  /** What came before has its effects first: a real server notifies after its answer. */
  readonly isSettled?: boolean;
};

/** Returns a step; the arguments are in the order in which one reads a request. */
export function step(
  as: string,
  method: string,
  path: string,
  more: Omit<Step, 'as' | 'method' | 'path'> = {},
): Step {
  return { as, method, path, ...more };
}
