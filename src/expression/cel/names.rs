//! Names made from parts: lower case, safe characters, and a hash that keeps different parts apart.

use std::sync::LazyLock;

/// The longest name of most objects.
pub const NAME: usize = 253;
/// The longest name that is one label of a host name.
pub const LABEL: usize = 63;

/// Joins parts to a name of at most so many bytes, always with a hash at its end; nothing without parts.
pub fn generate(parts: &[&str], most: usize) -> Option<String> {
    generate_with(parts, most, "")
}

/// Joins parts like [`generate`]; the hash is of the parts and something else that the name does not show.
pub fn generate_with(parts: &[&str], most: usize, hashed: &str) -> Option<String> {
    let clean: Vec<String> = parts.iter().map(|part| sanitized(part)).collect();
    let room = most.checked_sub(HASH_DIGITS + parts.len())?;
    let (share, left_over) = (room.checked_div(parts.len())?, room.checked_rem(parts.len())?);
    let cut = clean.iter().enumerate().map(|(at, part)| {
        // Sanitized parts are ASCII.
        &part[..part.len().min(share + usize::from(at < left_over))]
    });
    let joined = cut.collect::<Vec<&str>>().join("-");
    let separator = if hashed.is_empty() { "" } else { "-" };
    let digest = sha256(format!("{}{separator}{hashed}", parts.join("-")).as_bytes());
    let hash: String = digest.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("{joined}-{hash}");
    Some(name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned())
}

const HASH_DIGITS: usize = 8;

fn sanitized(part: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' };
    let clean: String = part.to_lowercase().chars().map(safe).collect();
    clean.trim_matches(['-', '.']).to_owned()
}

/// FNV-1a with 32 bits, as 8 hexadecimal digits.
pub fn short_hash(text: &str) -> String {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// SHA-256 by FIPS 180-4. Its constants are the first bits of the fractional parts of roots of primes, and are computed as such.
fn sha256(message: &[u8]) -> [u8; 32] {
    static CONSTANTS: LazyLock<([u32; 8], [u32; 64])> = LazyLock::new(|| {
        let primes = primes();
        let first = |degree| move |at: usize| fraction_of_root(primes[at], degree);
        (std::array::from_fn(first(2)), std::array::from_fn(first(3)))
    });
    let (mut state, constants) = *CONSTANTS;
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.as_chunks::<64>().0 {
        compress(&mut state, block, &constants);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

fn compress(state: &mut [u32; 8], block: &[u8; 64], constants: &[u32; 64]) {
    let mut schedule = [0_u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    let spread =
        |x: u32, turns: [u32; 2], shift: u32| x.rotate_right(turns[0]) ^ x.rotate_right(turns[1]) ^ (x >> shift);
    for at in 16..64 {
        let (near, far) = (spread(schedule[at - 2], [17, 19], 10), spread(schedule[at - 15], [7, 18], 3));
        schedule[at] = schedule[at - 16].wrapping_add(far).wrapping_add(schedule[at - 7]).wrapping_add(near);
    }
    let turned = |x: u32, turns: [u32; 3]| turns.iter().fold(0, |sum, turn| sum ^ x.rotate_right(*turn));
    let mut w = *state;
    for (constant, word) in constants.iter().zip(schedule) {
        let choice = (w[4] & w[5]) ^ (!w[4] & w[6]);
        let majority = (w[0] & w[1]) ^ (w[0] & w[2]) ^ (w[1] & w[2]);
        let first =
            [turned(w[4], [6, 11, 25]), choice, *constant, word].iter().fold(w[7], |sum, x| sum.wrapping_add(*x));
        let second = turned(w[0], [2, 13, 22]).wrapping_add(majority);
        w.rotate_right(1);
        w[4] = w[4].wrapping_add(first);
        w[0] = first.wrapping_add(second);
    }
    for (old, new) in state.iter_mut().zip(w) {
        *old = old.wrapping_add(new);
    }
}

fn primes() -> [u64; 64] {
    let mut found = [0; 64];
    let mut candidates = (2_u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    found.iter_mut().for_each(|slot| *slot = candidates.next().unwrap_or_default());
    found
}

/// The first 32 bits behind the point of a square or cube root, by bisection on whole numbers.
fn fraction_of_root(prime: u64, degree: u32) -> u32 {
    let wanted = u128::from(prime) << (32 * degree);
    let (mut low, mut high) = (0_u128, 1_u128 << 40);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if middle.pow(degree) <= wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_the_published_ones() {
        let hex = |text: &str| sha256(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(&"a".repeat(1000)), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
        assert_eq!(short_hash("test"), "afd071e5");
    }

    #[test]
    fn names_are_clean_short_and_never_the_same() {
        assert_eq!(generate(&["Hello World!"], NAME).unwrap(), "hello-world-7f83b165");
        assert_eq!(generate(&["my-app", "v1.2.3"], NAME).unwrap(), "my-app-v1.2.3-4f878dd8");
        assert_eq!(generate(&[], NAME), None);
        assert_eq!(generate(&["x"; 300], LABEL), None);
        let long = "a".repeat(300);
        assert_eq!(generate(&[&long, &long], LABEL).unwrap().len(), LABEL);
        assert!(generate(&["", "---"], NAME).unwrap().len() >= 8);
        assert!(generate(&["ÄÖ", "日本語の名前"], 20).unwrap().len() <= 20);
    }
}
