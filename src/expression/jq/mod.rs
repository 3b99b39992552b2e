//! jq, the language of transforms and assertions.
