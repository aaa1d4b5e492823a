import { activitiesOf, eventFamilies, type Family } from '../../src/contract/events/event-families.ts';

/** Returns a rule file that listens to a family. */
export function eventExample(family: Family): string {
  const [activity] = activitiesOf(family);
  const on = activity === undefined ? family : `${family}.${activity}`;
  return `version: 1\nrules:\n  example:\n    on: ${on}\n    steps:\n${stepFor(eventFamilies[family].subject)}`;
}

function stepFor(subject: string): string {
  if (subject === 'issue' || subject === 'pull_request') {
    return '      - uses: set-labels\n        with: { add: [triage] }\n';
  }
  return '      - uses: set-status\n        with: { state: success, description: Seen. }\n';
}

/** An operator file that says everything there is to say. */
export const operatorExample = `version: 1
secrets:
  - name: acme
    scope: [acme/*]
    authorization-file: /run/secrets/reeve-authorization
    hmac-file: /run/secrets/reeve-hmac
named-secrets:
  CI_HOOK: { file: /run/secrets/ci-hook }
notify-hosts: [chat.internal, 10.1.0.0/16]
accounts: { ada: 42 }
repositories: [acme/*, "!acme/attic"]
organizations:
  acme: { rules: acme/.reeve }
grants:
  - repositories: [acme/site]
    actions: [dismiss-stale-reviews]
  - organizations: [acme]
    actions: [sync-labels, protect-tags]
    facts: [branch_protections]
  - in: ["acme/*", "!acme/attic"]
    use: [open-pull-request, collaborators]
    branches: [main, "release/*"]
limits: { delivery: 50, hour: 500, repository-delivery: 20, repository-hour: 100 }
webhook:
  url: https://reeve.example.org/webhook
  system: false
  users: [ada]
  organizations: [acme]
  repositories: [ada/site]
  events: all
dashboard: { url: https://reeve.example.org }
preview: true
report-problems: issue
repeated: refuse
delivery-lifetime: 3d
concurrency: 16
max-body: 16MiB
retention: { settled: 14d, dead: 180d, max-size: 20GiB }
allow-admin: false
`;
