import type { NETWORK_MODES } from '../../field-values.ts';

export type NetworkMode = (typeof NETWORK_MODES)[number];

export interface NetworkRule {
  action: 'allow' | 'deny';
  /** `api.github.com` or `*.example.org`, lower case, ASCII (punycode), no trailing dot; '' with `cidr`. */
  host: string;
  cidr: string;
  /** Empty: 80 and 443, and with `deny` all. */
  ports: readonly number[];
  /** Empty: all. Need inspected TLS, or plain HTTP. */
  methods: readonly string[];
  path_prefix: string;
  /** 'inspect' or ''. */
  tls: string;
  /** The preset that the rule comes from; '' or absent: none. */
  preset?: string;
}

export interface NetworkPolicy {
  mode: NetworkMode;
  rules: readonly NetworkRule[];
  /** Increases with each change. 0: the sandbox never had a policy. */
  revision: number;
}

/** What a program connects to: a name, an address (the one that is connected to), or both. */
export interface Target {
  host: string | undefined;
  address: string | undefined;
  port: number;
  method?: string;
  path?: string;
}

export type DecisionCode =
  | 'allowed'
  | 'denied_by_rule'
  | 'not_allowed'
  | 'special_address'
  | 'ceiling'
  | 'needs_inspection';

export interface Decision {
  allowed: boolean;
  /** Index in the policy's rules; undefined: the mode, the ceiling or a special address decided. */
  rule: number | undefined;
  code: DecisionCode;
  /** One sentence for people. */
  reason: string;
  /** TLS to this host has to be inspected before methods and paths can be decided. */
  inspect: boolean;
}

/** An entry of `network.allow_max`: a name or a network, and ports (empty: all). */
export interface CeilingEntry {
  host: string;
  cidr: string;
  ports: readonly number[];
}

/** The most that a policy can allow; undefined: everything. Plain data, so that threads can exchange it. */
export type Ceiling = readonly CeilingEntry[] | undefined;

export interface AddressSet {
  /** `address`: an IPv4 or IPv6 address as text. */
  has(address: string): boolean;
}

export interface Limits {
  allowMax: Ceiling;
  /** The addresses of the host. */
  ownAddresses: AddressSet;
}
