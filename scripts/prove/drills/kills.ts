import { crash } from '../../crash/crash-servers.ts';
import type { Drill } from '../promise.ts';

/** Kills a receiving server at random times, like `npm run crash`. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const kills = isQuick ? 30 : 1_000;
  const { acked, lost, overlaps, outOfOrder, doubles, isIntact } = await crash({
    kills,
    onKill: () => signal.throwIfAborted(),
  });
  const count = (value: number): string => value.toLocaleString('en');
  return {
    figure: `${kills} kills: ${count(acked)} acknowledged, ${lost} lost, ${overlaps} overlaps, ${outOfOrder} out of order, ${doubles} settled twice`,
    isKept: isIntact && lost + overlaps + outOfOrder + doubles === 0 && (isQuick || acked >= 150_000),
  };
};
