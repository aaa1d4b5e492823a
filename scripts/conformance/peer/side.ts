export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Body parsed as JSON; undefined if it is not JSON. */
  readonly json: unknown;
};

type Value = string | number;

/** One of the two servers: its address, the credentials of people there, and values from its responses. */
export type Side = {
  readonly url: string;
  /** Value of the header `authorization` by person. */
  readonly credentials: Map<string, string>;
  readonly kept: Map<string, Value>;
};

/** Time in milliseconds after which a server that does not respond is reported. */
const patience = 60_000;

/** Returns a side with its administrator; `names` are values that are the same on both sides. */
export function createSide(url: string, adminToken: string, names: Readonly<Record<string, Value>>): Side {
  return {
    url,
    credentials: new Map([['admin', `token ${adminToken}`]]),
    kept: new Map(Object.entries(names)),
  };
}

/** Sends one step and stores the values that it keeps. */
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

/**
 * Replaces names by values. A name without a value from a response stays, so the request then names a missing object on
 * both sides.
 */
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
 * Request that is sent to both servers. In `path` and `body`, `$name` represents a value from an earlier response of
 * the same server, because row numbers differ between servers; a text that consists only of `$name` keeps the type of
 * the value.
 */
export type Step = {
  /** A person of the scenario, `admin`, or `anonymous` for a request without credentials. */
  readonly as: string;
  readonly method: string;
  /** Path below `/api/v1`. */
  readonly path: string;
  readonly body?: unknown;
  /** Body that is sent verbatim, with its content type, instead of `body`. */
  readonly raw?: { readonly type: string; readonly text: string };
  /** File that is sent as a form, in the part with this name. */
  readonly upload?: { readonly part: string; readonly name: string; readonly text: string };
  /** Values of the response that later steps use: the path of fields by name (`commit.sha`, `0.id`). */
  readonly keep?: Readonly<Record<string, string>>;
  /** Lists of the whole instance contain objects of others, so only rows with the names of this run are compared. */
  readonly isInstanceWide?: boolean;
  /** Rows of the same second have no fixed order. */
  readonly isUnordered?: boolean;
  /** Whether earlier steps must have taken effect first: a real server sends notifications after its response. */
  readonly isSettled?: boolean;
};

/** Returns a step; the arguments follow the order of a request line. */
export function step(
  as: string,
  method: string,
  path: string,
  more: Omit<Step, 'as' | 'method' | 'path'> = {},
): Step {
  return { as, method, path, ...more };
}
