//! Who belongs to a chat, and with what rights.

use crate::dto::ChatMember;

/// A user's standing in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberStatus {
    Owner,
    Admin,
    Member,
    /// Never was one, has left, or was banned.
    Outside,
}

impl MemberStatus {
    pub fn is_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    pub fn is_member(self) -> bool {
        !matches!(self, Self::Outside)
    }
}

impl ChatMember {
    /// `None` when the status is missing. Statuses that are newer than this program are those of a member.
    pub fn standing(&self) -> Option<MemberStatus> {
        Some(match (self.status.as_deref()?, self.is_member) {
            ("creator", _) => MemberStatus::Owner,
            ("administrator", _) => MemberStatus::Admin,
            ("left" | "kicked", _) | ("restricted", Some(false)) => MemberStatus::Outside,
            _ => MemberStatus::Member,
        })
    }
}
