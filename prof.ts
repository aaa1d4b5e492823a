import { setStage } from './test/support/stage.ts';
const t0=performance.now(); const c0=process.cpuUsage();
const s = await setStage({});
const t1=performance.now(); const c1=process.cpuUsage(c0);
console.log('setup', Math.round(t1-t0), 'cpu', Math.round((c1.user+c1.system)/1000));
await s.quiet(); const t2=performance.now(); console.log('quiet', Math.round(t2-t1));
await s.close(); const t3=performance.now(); console.log('close', Math.round(t3-t2));
for (let i=0;i<3;i++){ const a=performance.now(); const x=await setStage({}); const b=performance.now(); await x.close(); console.log('again setup', Math.round(b-a),'close',Math.round(performance.now()-b)); }
