//! Rule on which servers a page may be fetched from.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Rule that allows public addresses, except addresses of this machine and of the operator's own servers.
#[derive(Debug, Clone, Default)]
pub struct AddressPolicy {
    /// Host names of the operator's servers, in lower case.
    own_hosts: Vec<String>,
    /// Names that a test resolves itself. No setting fills this field.
    test_names: BTreeMap<String, SocketAddr>,
}

impl AddressPolicy {
    pub fn new(own_hosts: impl IntoIterator<Item = String>) -> Self {
        let own_hosts = own_hosts.into_iter().map(|host| host.to_lowercase()).collect();
        Self { own_hosts, test_names: BTreeMap::new() }
    }

    /// Returns a policy that resolves these names itself, and allows them even on loopback.
    #[must_use]
    pub fn with_test_names(self, test_names: BTreeMap<String, SocketAddr>) -> Self {
        Self { test_names, ..self }
    }

    /// Returns `false` for a host that is refused by its name alone.
    pub(crate) fn allows_host(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        let is_local = ["localhost", "local", "internal", "home.arpa"]
            .iter()
            .any(|name| host == *name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')));
        !is_local && !self.own_hosts.contains(&host)
    }

    pub(crate) fn test_address(&self, host: &str) -> Option<SocketAddr> {
        self.test_names.get(host).copied()
    }

    /// Returns `true` if a name that was resolved to `address` may be connected to.
    pub(crate) fn allows(&self, address: SocketAddr) -> bool {
        let is_of_test = || address.ip().is_loopback() && self.test_names.values().any(|known| *known == address);
        self.allows_ip(address.ip()) || is_of_test()
    }

    /// Returns `true` for an address of the public internet that no interface of this machine has: a firewall would not
    /// see the connection.
    pub(crate) fn allows_ip(&self, address: IpAddr) -> bool {
        is_public(address) && !is_of_this_machine(address.to_canonical())
    }
}

/// Returns `true` if the address belongs to an interface of this machine. Only such an address can be bound, unless the
/// operator allows to bind any (`net.ipv4.ip_nonlocal_bind`); then the address from which it would be reached decides.
fn is_of_this_machine(address: IpAddr) -> bool {
    let (unspecified, of_nobody): (IpAddr, IpAddr) = match address {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into()),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()),
    };
    let is_bound = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    // A UDP socket sends nothing when it is connected.
    let is_source = || {
        let socket = UdpSocket::bind((unspecified, 0))?;
        socket.connect((address, 9))?;
        socket.local_addr()
    };
    is_bound(address) && (!is_bound(of_nobody) || is_source().is_ok_and(|source| source.ip() == address))
}

/// Returns `true` for an address of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // 0.0.0.0/8, carrier-grade NAT, protocol assignments, 6to4 relays, benchmarks, reserved.
    let is_special = matches!(
        (a, b, c),
        (0, ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18..=19, _) | (240.., ..)
    );
    !(is_special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match segments {
        // NAT64 and 6to4 lead to the IPv4 address that they contain.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        // Protocol assignments with Teredo, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for address in
            ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1"]
        {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn an_address_of_this_machine_is_told_from_others() {
        for (address, expected) in [("127.0.0.1", true), ("93.184.216.34", false), ("2606:4700::1111", false)] {
            assert_eq!(is_of_this_machine(address.parse().expect("an address")), expected, "{address}");
        }
        let is_source = |socket: UdpSocket| socket.connect(("93.184.216.34", 9)).and_then(|()| socket.local_addr());
        if let Ok(own) = UdpSocket::bind(("0.0.0.0", 0)).and_then(is_source) {
            assert!(is_of_this_machine(own.ip()), "{own}");
        }
    }

    #[test]
    fn names_of_this_network_and_of_the_operator_are_refused() {
        let policy = AddressPolicy::new(["models.example.org".to_owned()]);
        for host in [
            "localhost",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "MODELS.example.org",
            "models.example.org.",
        ] {
            assert!(!policy.allows_host(host), "{host}");
        }
        assert!(policy.allows_host("example.org") && policy.allows_host("mylocal"));
    }
}
