import { contentsHandlers } from './contents.ts';
import type { Handlers } from './handler.ts';
import { instanceHandlers } from './instance.ts';
import { userHandlers } from './users.ts';

/** Every operation that the embedded forge answers: one table, put together from the files of their resources. */
export const handlers: Handlers = {
  ...contentsHandlers,
  ...instanceHandlers,
  ...userHandlers,
};
