/**
 * Licences by samples of the hashes of their texts, in base 36, with the number of all hashes and the licences with much of the
 * same text. From
 * spdx-license-list 6.12.0 (CC0) by `scripts/detection-tables.ts`; do not edit.
 */
export const licenseSketches: readonly {
  readonly id: string;
  readonly length: number;
  readonly related: readonly string[];
  readonly sketch: string;
}[] = [
  {
    id: '0BSD',
    length: 94,
    related: ['ISC'],
    sketch:
      'xbxtj 144ju1 1woiqd 2qo2is 2xv5uk 39ezzp 3vm0zw 6106tg 66aevg 6aq7o6 6cmigr 83uu4o 8a3o4j 8f3adn a6t0fo awbq2e blovnz c3qx4z d2kidj dauv0n j0uhv8 k239qp klf53e ' +
      'l0zk15 m6sm72 m9frx0 mae4sf nb7q5a ol6gv0 pdwqz6 pqiix5 q36zkg qq1ed1 rpcrr5 sb76ym smloim t7lk9z v5reoq vao01h wqk2r8 wxsrg2 y2402g zf5zul ztd6de 12m9g09 ' +
      '14070fr 147st1i 14uykli 1561t1y 15o29z4 16x1kiu 17hpsii 17iqhqc 18czkgc 18eddvw 18n0q7z 18wwkfj 18zm26k 194t8k3 19nt3p0 19uqf1t 1bdn8tv 1boaduo 1cfoai2',
  },
  {
    id: 'Apache-2.0',
    length: 1506,
    related: [],
    sketch:
      '120vx 6jfhj 6jzl3 8y62w c2weg c5njl comn5 f7r6l frkmd ggaqp ise05 kdqoh pa2fb pbj02 qv9a7 rcrwp rlznz s2jtw ubdzq vnb39 wof7t wyxx2 xf4e5 xujkj yb401 yygtu ' +
      '10jnzj 10x8h2 12qlfq 135jlh 172hz4 17thbw 1eost0 1ex6yd 1f9og8 1fko60 1g56h2 1jotpu 1kawgm 1l4fjm 1l78uy 1mm1gc 1nl9r6 1q3tub 1tvavl 1vnj5f 1x8lb3 1z947u 23evdd ' +
      '24b074 24c98l 25gp0w 27h637 286pdx 28oum0 2e1x1c 2g1a6v 2gmpt7 2l8cax 2lvqdt 2lyko4 2m0ijf 2ms9a1 2neggr',
  },
  {
    id: 'BSD-2-Clause',
    length: 173,
    related: ['BSD-3-Clause', 'BSD-3-Clause-Clear'],
    sketch:
      't93ja 1cm9jy 1fw460 21p5kw 2ld0g1 2o64vs 34n1zb 3togc1 3wjay5 47wbue 4fi64w 59ez3a 5g627u 5l40vu 5qevv3 6al6sf 6dg72c 751q2y 7d47gz 8esqft 8imq3m 90j8c7 949npr ' +
      '94o0gg 97lcxn 99w10n bs24h0 bvsw1i c8xz9a cnpdsx cyywvc d7pmpj ddkyjf eavuj8 ej2tqa evf4tc evzgb2 ex9tya faf3z7 fkz44u gidwlt gshdrv gydqyp gzglbm iflb1o itgth6 ' +
      'iv9m5f j65egv j8frls j8fsrn j94vi9 jq5h48 juppah k6kebw kdhh95 kzvpt4 l0zk15 li8zvc ljd3jd lxosx2 lznlr4 mepkbt mzy1ss nu0ado',
  },
  {
    id: 'BSD-3-Clause',
    length: 204,
    related: ['BSD-2-Clause', 'BSD-3-Clause-Clear'],
    sketch:
      't93ja 1cm9jy 1fw460 1iv00z 21p5kw 2ld0g1 2o64vs 2p2wzo 34n1zb 3togc1 3wjay5 47wbue 4fi64w 59ez3a 5g627u 5kuyh6 5l40vu 5qevv3 5ursfr 6al6sf 6dg72c 751q2y 7d47gz ' +
      '8d8agj 8esqft 8imq3m 8u7ym9 90j8c7 949npr 94o0gg 97lcxn 99w10n bdkz5a bs24h0 bvsw1i c8xz9a cngzlq cnpdsx cyywvc d7pmpj ddkyjf dzem9n eavuj8 ej2tqa eo4gc4 evf4tc ' +
      'evzgb2 ex9tya faf3z7 fkz44u gidwlt gshdrv gydqyp gzglbm hy2mu2 iflb1o iiwlei itgth6 iv9m5f j65egv j8frls j8fsrn j94vi9 jq5h48',
  },
  {
    id: 'BSD-3-Clause-Clear',
    length: 231,
    related: ['BSD-2-Clause', 'BSD-3-Clause'],
    sketch:
      '41te4 t93ja 19qdvi 1cm9jy 1fw460 1iv00z 21p5kw 27huby 2ld0g1 2o64vs 34n1zb 3q3at2 3togc1 3wjay5 3ynal4 47wbue 4fi64w 59ez3a 5f0uqy 5g627u 5l40vu 5qevv3 5ursfr ' +
      '6al6sf 6dg72c 751q2y 7mckv1 8esqft 8imq3m 8xiaja 90j8c7 949npr 97lcxn 98l1jo 99uf6r 99w10n 9h4290 amajp5 b9pxt5 bdkz5a bs24h0 bvsw1i c8xz9a cngzlq cylmr5 cyywvc ' +
      'd7pmpj ddkyjf dl0lhd dzem9n ej2tqa eo4gc4 evf4tc evzgb2 ex9tya faf3z7 fkz44u fl6ffh ghvu3m gidwlt gshdrv gydqyp gzglbm htyw1w',
  },
  {
    id: 'BSL-1.0',
    length: 209,
    related: [],
    sketch:
      '83ut1 tmw0s vwnbd 15g3gz 1f51ku 1jnebz 24meub 2gcyti 3028ay 30bqk1 3qjmhy 4g9ksg 4go8e2 6i8hw9 6k818m 6m6pf8 7fvfmd 7ii4pn 7mz93s 7rydm7 7vg23d 7xz7ji 80gp6y ' +
      '8fyjgb 8km05v 8uqhas 9qe5nq a6t0fo a8x7oc ag9fgz aku3ij avl5k5 b79vpy bnp77l cohld9 cs4cuu d14azj d2kidj d74hft d8owy8 dtt91u e0fqsw e98l5r ex7ecb f032yi fi17wb ' +
      'fkz44u fxl1in gef2dd guytlo h45hwa hnyk7n i4ia1f ieqs6c it64vv j2z06k jdi33x jq1yku jtk4lc jy5ew0 ld8bw0 lfk5sm lj0ezu lnsail',
  },
  {
    id: 'CC-BY-4.0',
    length: 2350,
    related: ['CC-BY-SA-4.0'],
    sketch:
      'opj9 31h7b 4ihc5 6vf7i 9fbbp aulaj b4lqs fny8h g1m2u gxac0 i44nh jg2wl lhgun lwd71 mbhge n15ti nxi3k o1602 o82fv pbj02 s8gwh sh24v tqtf2 tw1k2 us8f0 vappr w385h ' +
      'wf0gk yinnt zcihx zklpk 10yn1t 123ect 124u6r 1323ct 132oty 14qqz1 15zhlp 162qik 16a6z4 17486t 1758pq 186fiv 18e0oq 18ss4a 1f3owj 1f59ay 1jqdz5 1kd2h6 1lvav2 ' +
      '1morg9 1nmdcy 1noe7x 1np3y0 1ov521 1q73dh 1ry34u 1s7lny 1spwd1 1tsfjo 1vnj5f 1w1xca 1w9xlm 1wk5sl',
  },
  {
    id: 'CC-BY-SA-4.0',
    length: 2495,
    related: ['CC-BY-4.0'],
    sketch:
      'opj9 31h7b 4ihc5 6vf7i 9fbbp a4jxf aulaj b4lqs fny8h fsp3t g1m2u gxac0 i44nh jg2wl lhgun lwd71 mbhge n0ob6 n15ti nxi3k o1602 o82fv pbj02 s8gwh sh24v tqtf2 tw1k2 ' +
      'us8f0 vappr w385h wf0gk yinnt zcihx zklpk 10yn1t 123ect 124u6r 1323ct 132oty 14qqz1 15zhlp 162qik 163fo0 16a6z4 17486t 1758pq 186fiv 18e0oq 18ss4a 1f3owj 1f59ay ' +
      '1jqdz5 1kd2h6 1lvav2 1morg9 1n4z6z 1nmdcy 1np3y0 1ov521 1q73dh 1ry34u 1s7lny 1spwd1 1vnj5f',
  },
  {
    id: 'CC0-1.0',
    length: 995,
    related: [],
    sketch:
      '14h8q 18g8y 1c87d 8ro08 hmu6f mbhge n6no8 ossr6 u14i5 vhdr8 xjsel ye9oc 10ag1e 126n88 153jfc 1ay77b 1gj6b9 1qa7ii 1qc5ra 1qfu69 1skpx5 21i0h2 28e9z5 29qsd5 ' +
      '2egxiy 2jf7tn 2o2jon 2tikfe 2v3p42 2x2n2h 2ztdeq 31a40x 34goqn 34gzv5 36jphk 372ui1 3ar8ci 3b46om 3b53c8 3ctvf1 3flqbv 3hz4sn 3jrhzj 3laaql 3sq9xe 3wceaj 3xs0ey ' +
      '3zht4m 404wx5 41naqo 42cczp 42xvl9 43lelb 43srx7 44auqn 4mxxsn 4pad71 4pktpp 4r902z 4sunum 4teoq1 4whqq1 53k5hk 5c5mf9',
  },
  {
    id: 'EPL-1.0',
    length: 1666,
    related: ['EPL-2.0'],
    sketch:
      '3742x 48lpi 5866p 60qjb 6oh4n 8a1a7 b4lqs c5njl d6pt4 fcpsx kz7v8 nhl9b obilw oejrd oz5qz pbj02 suo94 t93ja uzdh6 vz225 wwjvk xujkj 1924wd 1be2yz 1ctc7t 1f6ezf ' +
      '1fw460 1j76bw 1jk2hp 1k0q4e 1m5vqc 1s94ko 1sls8n 1tvavl 1vdgqx 1vxb8p 1x89bg 21p5kw 23dxzm 24ihze 26edtl 2a16z2 2am1s4 2bpf14 2d5wt0 2ehd7w 2irj5k 2n6bw2 2n74nk ' +
      '2nldke 2pp06u 2t8a8l 2t8al3 32c2bn 355boy 36bybt 3a4gzt 3ghzoe 3gmmk3 3ktpel 3lbl78 3mk41g 3qq5n2 3s4k14',
  },
  {
    id: 'EPL-2.0',
    length: 2092,
    related: ['EPL-1.0'],
    sketch:
      '19jzd 48lpi 4jw9l 563nd 5866p 60qjb 61omb 6oh4n 8a1a7 afvaq b4lqs c5njl d6pt4 fcpsx hgesh j82rx kz7v8 obilw oejrd okp27 oz5qz slfve suo94 t93ja uvoqk uzdh6 ' +
      'vz225 wwjvk xujkj 12qlfq 15fmy2 1924wd 1be2yz 1ctc7t 1f22hz 1f369g 1fw460 1g56h2 1j76bw 1jk2hp 1jra1x 1k0q4e 1m5vqc 1orjdy 1pzuda 1s94ko 1sls8n 1tvavl 1uwt25 ' +
      '1vdgqx 1vxb8p 1w572z 1x89bg 21p5kw 231ob4 23dxzm 24ihze 267dxc 26edtl 2795la 28f1vp 2a16z2 2agjew 2am1s4',
  },
  {
    id: 'EUPL-1.2',
    length: 2150,
    related: [],
    sketch:
      '1uyk9 4ou39 7n80e 8gk5g 8iibe 9okig 9rh8p a8ug2 b5nqp c7j8h d7ltz ed0us ggaqp ifeho j01gx jk2v9 jw7eu l8rgj lrw70 lsibt odnzd r0ym5 t71ec viif7 vvs2b w0ikr ' +
      'w1n7q wk564 x1ve4 xgjly xzvfi z50vf 127ddc 12pxbm 12tlnd 12u1f6 12z48l 15oczt 17yykk 19uo6w 1av672 1b2fu5 1bklfe 1cpcsd 1f9og8 1fesza 1i6x5m 1kg41n 1nn4k4 ' +
      '1or1b5 1pru2g 1q0k6s 1q7jb0 1qc4nv 1sxej2 1tkjd0 1u8woe 1vnj5f 1vqihq 1xl1hr 1y3nop 1y4eu8 203o9q 204ml4',
  },
  {
    id: 'ISC',
    length: 108,
    related: ['0BSD'],
    sketch:
      'b6pdq xbxtj 144ju1 1pn5ag 1u9ofl 1woiqd 2qo2is 2xv5uk 39ezzp 3vm0zw 4slq9k 566qm7 5a73gl 66aevg 6aq7o6 70zldf 83uu4o 8f3adn a6t0fo awbq2e blovnz c3qx4z d2kidj ' +
      'dauv0n ef78z7 fk88ri i76qxy j0uhv8 k239qp klf53e l0zk15 m6sm72 m9frx0 mae4sf nb7q5a nlwe5l oe44mu ol6gv0 pdwqz6 pqiix5 q36zkg rpcrr5 sb76ym sfxder smloim supefm ' +
      't7lk9z ub10qr v2dq5q vao01h w0b75o wqk2r8 wxsrg2 zf5zul ztd6de 11o877m 128j5i8 12m9g09 13b7s5q 13dni9g 14uykli 1561t1y 15fy3of 160dzo0',
  },
  {
    id: 'MIT',
    length: 161,
    related: ['MIT-0'],
    sketch:
      '1c8fwq 1pn5ag 1uocgo 2gcyti 2x2sl8 30bqk1 30ge52 3jjlwp 4bi8u9 4vkl73 5geoqy 5y42jx 66aear 7fvfmd 7mz93s 7wktk2 7xz7ji 83ny16 8u1svk 8yoakc 9euaf7 9qe5nq a6t0fo ' +
      'a8x7oc a91yvh ag9fgz aku3ij bid9h0 cs4cuu d2kidj dav7cm dfbewy dgr8zl e0fqsw e7g5og e7gdvt f032yi fndbr3 fx0v8b g7fksf guytlo gxjskr h9dpme hafwi0 hgv8s3 ibxq8m ' +
      'ieqs6c inkvex jtk4lc ku4m1x ld8bw0 lj0ezu lx1n32 mxmfei nygcef o37wqw oahsln ogszm9 pg1n4w phhzf1 q6t3zq qe6zwx r4csy6 rcsruf',
  },
  {
    id: 'MIT-0',
    length: 137,
    related: ['MIT'],
    sketch:
      '1c8fwq 2gcyti 2x2sl8 30bqk1 30ge52 3jjlwp 43n5t0 4bi8u9 4vkl73 5y42jx 66aear 7fvfmd 7mz93s 7wktk2 7xz7ji 8u1svk 9euaf7 9qe5nq a6t0fo a8x7oc a91yvh ag9fgz aku3ij ' +
      'bid9h0 cs4cuu d2kidj dav7cm dfbewy dgr8zl e0fqsw e7g5og f032yi fx0v8b g7fksf guytlo gxjskr hafwi0 hgv8s3 hwarwr ieqs6c inkvex jtk4lc ku4m1x ld8bw0 lj0ezu lx1n32 ' +
      'mxmfei nygcef o37wqw oahsln ogszm9 pg1n4w phhzf1 q6t3zq qe6zwx r06r3x rcsruf rdns1a rjpktd sb76ym sx5am2 t7j4w7 ucpn7a uldkyk',
  },
  {
    id: 'MPL-2.0',
    length: 2347,
    related: [],
    sketch:
      'xrv tlb4 1bnjy 24ljz 3cips 3q7da 41c39 5uc40 5whgu 73tmc 8tim3 cmhnf d1n3s d466d d7d5a did4c eel7v eqkip g8bih jiufe l58m6 mmtv8 onaes opcbk ow5jg qlkni ssv8x ' +
      't0qnc twgp6 yhzo5 yinnt ywetq zsb8g 10fo0w 12coyt 12cz1o 12hud1 12tg8e 12ttxl 139r5n 13fn4q 13y9ov 17cses 1b0q8e 1bf8g6 1bwjtr 1cam09 1e6uwj 1e8a7u 1ejm5i ' +
      '1f93qx 1hfewi 1hq02u 1hvnep 1i3apj 1jra1x 1ju6rr 1k8tbu 1lva32 1n6q7c 1nfmxn 1pyky9 1pzuda 1spiqu',
  },
  {
    id: 'MulanPSL-2.0',
    length: 917,
    related: [],
    sketch:
      '1rvqr 6jvrz 7b26p gzn37 l88bl msguz pbj02 syi5y xujkj xvba4 yb401 10p6vb 11ia04 16wzb8 174gve 19fvmu 19is5b 1bzobu 1fz027 1gp1uc 1jqdz5 1n5r6z 1nh9qv 1pbqed ' +
      '1pudkx 1q1bi2 1yc355 21ho3j 221qng 263oli 2el2ip 2fpu19 2i132w 2jqk38 2l01gg 2o8319 2q3ryu 2r812c 2tuprr 33od6d 3gplks 3jvyaq 3k3fbl 3p3glz 3t6vsb 3u4vdz 3w0qcw ' +
      '3x4o9z 3x82rp 3ylkv4 40rdkt 41lb3h 41wmzh 426xpd 42otbe 4bbjrf 4cjrqy 4cvybb 4h1vz3 4hh43p 4hhp1z 4l3dy1 4mhyuj 4n0rbn',
  },
  {
    id: 'OFL-1.1',
    length: 618,
    related: [],
    sketch:
      '2d92i 2eda0 8xg0t c54xp pybsq 14zmto 1l78uy 1mdq4a 1pn5ag 1txmoq 1uuxvl 21ee9o 220ndj 22zfu3 26ogsf 2ogksq 2st7d5 2wr0iq 2x2sl8 325xtj 32kzg8 32xz4d 358a01 ' +
      '38p4pw 3imkx7 3jjlwp 3xlpgk 3ym9c8 4532dq 4570e7 4hw16p 4rigkj 4rnd5o 50qvzl 5ht84c 5mge5e 5oficr 5y42jx 6223bc 6gw8mz 6hogvf 6merwe 6ow321 6wcc0k 6yr8gi 7fvfmd ' +
      '7mf998 7mhcxf 7mz93s 7thff5 83ny16 87gtf9 88pktd 8dih6x 8m5nsl 8npekm 8zrk62 90ivb2 96bo3o 9aclxc 9b8hbq 9cd8a4 9dykiq 9ehnyv',
  },
  {
    id: 'OSL-3.0',
    length: 1401,
    related: [],
    sketch:
      '1ci6a 3es46 4khvb 8tim3 9cy8t a57ik a691h cnyc4 egf5z f742u g8bih h5i17 hhpev j8tbq ods9q onwx5 p9kag wkyby wr9lc xujkj 12i7hz 16iv9w 1876hj 19fsmr 1ca1cs ' +
      '1emz36 1hhfp0 1hq02u 1iv00z 1l212g 1l4fjm 1l5fza 1o0udd 1t5z1s 1urt34 23c9tw 23v94j 259x5h 27glqb 27h637 2969e4 2aa1cy 2b9259 2g5rbs 2ktigt 2o5qns 2p9a1o 2pck0p ' +
      '2r1n0x 2se3b6 2sm3eu 2xuuxs 2yhqkh 2yyqxl 328f2m 32r4sx 36lg1i 36teav 39728m 3acslt 3ags8g 3c4det 3c7dx3 3hvil0',
  },
  {
    id: 'UPL-1.0',
    length: 290,
    related: [],
    sketch:
      'hxc5 bvyz2 d8755 g8bih 157jzl 19zoen 1ggylp 1r5te6 24us87 2gcyti 2x2sl8 30bqk1 30ge52 3jjlwp 3yc0cg 4goo87 4vrpl9 5dbkth 5ncpuo 5xzgbl 5y42jx 6i8hw9 6nqeoa ' +
      '71oj87 76u1ue 7977c0 7fvfmd 7ja12o 7rvgui 7wktk2 7xz7ji 8l58u3 8puf7j 8saxgo 8yoakc 9cijze 9euaf7 9g2214 9qe5nq a6t0fo a8x7oc a9wqjs ac6jkl ai8z6z aku3ij aqwd9y ' +
      'bnf062 c6xfvz cguddh cs4cuu d067bk d1mrqq d2kidj dav7cm dc9pln dgr8zl dkvn2s e0fqsw e4gv87 e7g5og e7gdvt f032yi f39pdp fi7zab',
  },
  {
    id: 'Unlicense',
    length: 193,
    related: [],
    sketch:
      '7q0jk pmg4h 145ao4 276v7a 27gnoa 2gcyti 2x2sl8 30bqk1 3235i4 3jjlwp 3vmbse 3wecc6 3zht4m 41zeqm 535168 5y42jx 6m7y2c 7fvfmd 7xz7ji 84gt98 8c34u9 93tt5g 9qe5nq ' +
      '9y7l4x a6t0fo a8x7oc a9ptbf afd4ou aku3ij albt39 bocwn4 cs4cuu d2kidj dav7cm duxa3d dv8mk5 e0fqsw e7g5og eqmudt exuoj8 f032yi fmgyl2 fodo13 g7fksf gtw0ot hh4yif ' +
      'hkirfq hry5y3 hts0h5 ieqs6c ihjyov j2f3zp k2r73r kqr7gn kuwbe9 lj0ezu lx1n32 mjnaak mu0nt5 mxkv9z n1guc6 nygcef o0lzmc o31rv3',
  },
  {
    id: 'WTFPL',
    length: 55,
    related: [],
    sketch:
      '1dfliv 1m1mhr 2u9itz 3cxwk5 3daiec 3q6b8v 5px8ly 66rwel 6q5bra 78inc7 8ccwst acnc02 apnofb clf2f1 f392d4 f7u5jy h21mgh iw8teq ne9m1a nx4ttb tpye63 vyov6o wmg5jz ' +
      'z1u4vf 10530q9 10zz0ip 11zmvk2 12pw3lh 13bcf0p 1atm0kx 1b3u2y9 1c1ywew 1d0ejhr 1e46eew 1fowqw3 1gb6mkr 1hprgbj 1jz5m23 1kt1i6d 1nveq6i 1o8cyzl 1oz43vt 1p5eer1 ' +
      '1p5nbos 1png69y 1po1w2f 1qmbk66 1rdhhfs 1slwzih 1t8ph7z 1vu6cd3 1x33nd8 1x8e1br 1x9d05f 1ye6fbh',
  },
  {
    id: 'Zlib',
    length: 131,
    related: [],
    sketch:
      '128yuq 144ju1 2bhfuh 2tmd1b 30cqje 3suv16 3y3ko1 4wa0bv 543ary 5f0uqy 5s256h 6h4nhl 6ppgkw 6xmt50 6zuscq 7gsick 7w8p6i 86qwds 8b9g0i 8lpk48 937abv a2hrbm abnqx8 ' +
      'aonb9c avdhbe avdy1m awv4q8 bde9xb d2kidj d8ch86 dfctay e0fqsw e58i1j e6wgo4 fidvfb g4m90l ge3non h4gtm4 hvti8n i2lgoh i59y9i icd1l3 jmci7r jrxrud kua5zo ldg9bt ' +
      'lnpovq lx0cca m5t5n9 maw9gp n8e1y0 ndb32i o9r1d3 oktqet os20vh p72zbe q2i551 qara7a qiunwu qw5as6 r297ex rg62zm rmcpx2 rpq5ex',
  },
  {
    id: 'AGPL-3.0',
    length: 5345,
    related: ['GPL-3.0', 'LGPL-3.0'],
    sketch:
      'if49 13hqi 1syoq 3625n 3d7h7 3kvcb 49uxu 4vvhq 5v2be 607le 6ltt9 72amr 93rkb 9lhem 9lxsd a8em5 b9jbq blron bx4yi c2okf d3bsc epba5 eqojs eskuy ewimv fhe22 flqfw ' +
      'fpq2m g8bih gogjp gu5sc i5v1k inq6k iy6ov j8vye kbnvp kd9z3 kh6fq kkb3r krn8j l5j9y lbi2c m5mbl m74vk m8d3n myoy9 omlqa orlud pfpmm pi08n pwda1 q1762 r6wk1 ' +
      'rpdfo s4h0t s5fd7 s8gbg sa1b0 tgbh9 u528s w2q1e w2tnp w53un wl737',
  },
  {
    id: 'GPL-2.0',
    length: 2773,
    related: ['LGPL-2.1'],
    sketch:
      '1p45n 2lc6h 3cgu6 4bxos 5zsus 6o6xx 807y3 8jbks 93rkb bgnts btrcc bx4yi eqojs gogjp j4rpo jb5tm jqhy8 kiim5 kvz4b m8ya1 mk8b1 qerhx sdqtk snfjj wyys2 xqgsf ' +
      'ys6s4 1063u9 10pz68 12kwmm 13dtwu 13gxnb 14hr7u 15lke4 15qij8 17r1k7 1ado4i 1aeq0t 1am3p2 1aoy8o 1batuk 1bggpn 1c5jib 1c5w3i 1cokiu 1db20p 1dlxqb 1e1l3q 1ej11y ' +
      '1f2eyf 1fij45 1fow1a 1fw460 1gadpn 1hb7c2 1hjiba 1i1mcn 1ibo8t 1ijjep 1iykic 1jotpu 1k7zx4 1kc2be 1l78uy',
  },
  {
    id: 'GPL-3.0',
    length: 5475,
    related: ['AGPL-3.0', 'LGPL-3.0'],
    sketch:
      'if49 13hqi 1syoq 3625n 3d7h7 3kvcb 49uxu 4vvhq 4z2t3 5v2be 607le 6ltt9 72amr 93rkb 9lhem 9lxsd a8em5 awsq5 b9jbq blron bx4yi c2okf d3bsc epba5 eqojs eskuy ewimv ' +
      'eypkz fhe22 flgaz flqfw fpq2m g8bih gogjp gu5sc i5v1k inq6k iy6ov j8vye kbnvp kd9z3 kh6fq kkb3r krn8j kvz4b l5j9y lbi2c m5mbl m74vk m8ya1 myoy9 nirir omlqa ' +
      'orlud oxkqm pfpmm pi08n pwda1 q1762 r6wk1 rpdfo s4h0t s5fd7 sa1b0',
  },
  {
    id: 'LGPL-2.1',
    length: 4231,
    related: ['GPL-2.0'],
    sketch:
      '17nwm 1k5x3 1p45n 5mlgm 5zsus 6o6xx 78daf 8jbks 8l1yq 8oqng 9d0co b26oh b3w1d bgnts bqnj8 bx4yi byw7o d3z19 dkr2u e3sr4 eqojs fvpi4 gogjp gvjc8 hk8ui i1ppy ' +
      'iqzlw j4rpo jb5tm k52t6 ki8et kw9qb lrs08 m8ya1 m9yxe mkigp qerhx rn0zw ry7b6 sdqtk tktii v78bs vjahy w78tk wc5jr wyys2 xidi1 ys6s4 zjw6l 10pz68 10v2ff 114cf5 ' +
      '12kwmm 12p3y7 12u1f6 13dtwu 13vbbh 13vuhe 14hr7u 15xp4f 16onq3 1724r5 177wh4 17r1k7',
  },
  {
    id: 'LGPL-3.0',
    length: 6432,
    related: ['AGPL-3.0', 'GPL-3.0'],
    sketch:
      'if49 13hqi 17nwm 1syoq 3625n 3d7h7 3kvcb 49uxu 4vvhq 4z2t3 5v2be 607le 64sr9 6af7h 6ltt9 6tvss 72amr 93rkb 9lhem 9lxsd a8em5 akgg9 awsq5 b26oh b9jbq blron bx4yi ' +
      'c2okf d3bsc dmtdo epba5 eqojs eskuy ewimv eypkz fhe22 flgaz flqfw fpq2m g8bih gogjp gu5sc hu8e0 i5v1k ictio inq6k iy6ov j8vye kbnvp kd9z3 kh6fq kkb3r krn8j ' +
      'kvz4b l5j9y lbi2c m5mbl m74vk m8ya1 myoy9 nirir omlqa orlud oxkqm',
  },
];
