//! Operations on resources, and the parts of the requests that they send.

/// An operation on a resource or a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Read one.
    Get,
    /// Make one.
    Create,
    /// Change one.
    Update,
    /// Remove one.
    Delete,
    /// Read a collection.
    List,
    /// Compare the stored one with the server's.
    Compare,
}

impl Operation {
    /// All of them, in the order of canonical documents.
    pub const ALL: [Self; 6] = [Self::Get, Self::Create, Self::Update, Self::Delete, Self::List, Self::Compare];

    /// Its name on the command line: `get`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Compare => "compare",
        }
    }

    /// Its name in documents: `getResource`.
    pub fn wire(self) -> &'static str {
        match self {
            Self::Get => "getResource",
            Self::Create => "createResource",
            Self::Update => "updateResource",
            Self::Delete => "deleteResource",
            Self::List => "listCollection",
            Self::Compare => "compareResources",
        }
    }

    /// The operation of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// Parts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestParts {
    /// The method.
    pub method: bool,
    /// The path.
    pub path: bool,
    /// The query parameters.
    pub query: bool,
    /// The headers.
    pub headers: bool,
    /// The body.
    pub body: bool,
}

impl RequestParts {
    /// No part.
    pub const NONE: Self = Self { method: false, path: false, query: false, headers: false, body: false };
    /// Every part.
    pub const ALL: Self = Self { method: true, path: true, query: true, headers: true, body: true };

    /// The parts of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            method: self.method || other.method,
            path: self.path || other.path,
            query: self.query || other.query,
            headers: self.headers || other.headers,
            body: self.body || other.body,
        }
    }
}
