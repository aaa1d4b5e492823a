/** Fields of a form. */
export interface FormFields {
  /** Returns the first value of a field; empty if the field was not sent. */
  get(name: string): string;
}

/** Returns the fields of a body that `@fastify/formbody` parsed. Any other body has no fields. */
export function formFieldsOf(body: unknown): FormFields {
  const fields = typeof body === 'object' && body !== null ? body : {};
  return {
    get(name) {
      // A field that was sent several times is an array.
      const [value]: unknown[] = Object.hasOwn(fields, name) ? [Reflect.get(fields, name)].flat() : [];
      return typeof value === 'string' ? value : '';
    },
  };
}
