import type { ReliabilityPromise } from './promise.ts';
import { keeping } from './promises/keeping.ts';
import { receiving } from './promises/receiving.ts';
import { trust } from './promises/trust.ts';
import { working } from './promises/working.ts';

/** Every promise, in the order of its number. */
export const promises: readonly ReliabilityPromise[] = [...receiving, ...working, ...trust, ...keeping];
