//! Detects if a server runs on this machine.

use core::net::IpAddr;

/// Returns `true` if `host`, as written in a URL, is this machine. Requests to it must not go through a proxy.
pub fn is_loopback(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ip = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&name);
    match ip.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => ip.to_canonical().is_loopback(),
        Ok(ip) => ip.is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "LOCALHOST", "localhost.", "bot.localhost", "127.0.0.1", "127.8.8.8", "[::1]", "::1"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["127.example.com", "localhost.example.com", "10.0.0.1", "0.0.0.0", "[2001:db8::1]", ""] {
            assert!(!is_loopback(host), "{host}");
        }
        assert!(is_loopback("[::ffff:127.0.0.1]"));
    }
}
