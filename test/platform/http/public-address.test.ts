import { describe, expect, it } from 'vitest';
import {
  createNetworkList,
  createReachableHosts,
  hostOfUrl,
  isPublicAddress,
} from '../../../src/platform/http/reachable-hosts.ts';

/** The first and last address of each network, and well-known addresses in it. */
const closed = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1'],
  'link-local': [
    '169.254.0.0',
    '169.254.255.255',
    'fe80::',
    'fe80::1%eth0',
    'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fe80::a9fe:a9fe',
  ],
  'unique local': ['fc00::', 'fd12:3456::1', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site local': ['fec0::1'],
  'protocol assignments': ['192.0.0.0', '192.0.0.255', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff:ffff::'],
  benchmarks: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'relays of 6to4': ['192.88.99.1'],
  '6to4': ['2002::', '2002:7f00:1::', '2002:0a00:0001::1', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001::7f00:1'],
  'IPv4-mapped': [
    '::ffff:0.0.0.0',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:93.184.216.34',
  ],
  'IPv4-compatible': ['::', '::127.0.0.1', '::7f00:1', '::a00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:a00:1'],
  NAT64: ['64:ff9b::', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::93.184.216.34', '64:ff9b:1::1'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.0', '255.255.255.255', '100::1', '4000::1', '5f00::1', 'e000::1'],
  'no addresses': ['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '127.0.0.1 ', '[::1]'],
} as const;

const open = [
  ...[
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...[
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
  ],
  ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.114.0', '223.255.255.255', '93.184.216.34'],
  ...[
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7::1',
    '2001:db9::1',
    '2003::1',
    '2606:4700::1111',
    '3ffe::1',
  ],
];

it('the table has as many addresses as docs/security.md says', () => {
  expect([Object.values(closed).flat().length, open.length]).toEqual([84, 27]);
});

it.each(Object.entries(closed).flatMap(([what, all]) => all.map((address) => [what, address] as const)))(
  'is not public: %s, %s',
  (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(createReachableHosts([]).permits(address)).toBe(false);
  },
);

it.each(open)('is public: %s', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

describe('listed hosts', () => {
  const hosts = createReachableHosts([
    'Chat.Internal',
    '10.1.0.0/16',
    '192.168.7.7',
    'fd00:7::/32',
    'bücher.example',
  ]);

  it.each([
    ['http://chat.internal/x', true],
    ['http://CHAT.internal.:8080/x', true],
    ['http://chat.internal.evil.example/', false],
    ['http://xchat.internal/', false],
    ['http://b%C3%BCcher.example/', true],
    ['http://10.1.255.255/', true],
    ['http://0x0a.1.2.3/', true],
    ['http://10.2.0.0/', false],
    ['http://192.168.7.7/', true],
    ['http://192.168.7.8/', false],
    ['http://[fd00:7::1]/', true],
    ['http://[fd00:8::1]/', false],
  ])('of %s is listed: %s', (url, isListed) => {
    expect(hosts.isListed(hostOfUrl(new URL(url)))).toBe(isListed);
  });

  it('permit only the addresses of listed networks', () => {
    expect(['10.1.2.3', 'fd00:7::9', '192.168.7.7', '10.2.0.0', '127.0.0.1'].map(hosts.permits)).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
  });

  it.each([
    '',
    '*.internal',
    'http://chat',
    'chat:80',
    'a b',
    '10.0.0.0/33',
    '10.0.0.0/',
    'x/8',
    '2130706433',
    '::1/129',
  ])('refuse %j with a suggestion', (entry) => {
    expect(() => createReachableHosts([entry])).toThrow(/is not a (host|network): write /);
  });

  it('refuse a network with a zone', () => {
    expect(() => createNetworkList(['fe80::1%eth0/64'])).toThrow('is not a network');
  });
});
