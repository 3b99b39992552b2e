//! Whole numbers without a sign and without a limit, for calculating with numbers as they are written.

use std::cmp::Ordering;

/// Limbs of nine decimal digits, the lowest first, without zeros at the top: zero has none.
///
/// Base ten, because that is how numbers come and go: reading and writing are linear.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Natural(Vec<u32>);

const BASE: u64 = 1_000_000_000;
const DIGITS: usize = 9;

impl Natural {
    /// Reads decimal digits; the caller has made sure that there is nothing else.
    pub(super) fn from_digits(digits: &str) -> Self {
        let chunks = digits.as_bytes().rchunks(DIGITS);
        let limb = |chunk: &[u8]| chunk.iter().fold(0, |limb, digit| limb * 10 + u32::from(digit.wrapping_sub(b'0')));
        Self(chunks.map(limb).collect()).trimmed()
    }

    /// Reads hexadecimal or octal digits, by long multiplication.
    pub(super) fn from_radix(radix: u32, digits: &str) -> Self {
        let mut limbs: Vec<u32> = Vec::new();
        for digit in digits.chars().filter_map(|digit| digit.to_digit(radix)) {
            let mut carry = u64::from(digit);
            for limb in &mut limbs {
                let product = u64::from(*limb) * u64::from(radix) + carry;
                *limb = low(product);
                carry = product / BASE;
            }
            if carry > 0 {
                limbs.push(low(carry));
            }
        }
        Self(limbs)
    }

    pub(super) fn to_digits(&self) -> String {
        let Some(top) = self.0.last() else { return "0".to_owned() };
        let mut digits = top.to_string();
        self.0.iter().rev().skip(1).for_each(|limb| digits.push_str(&format!("{limb:09}")));
        digits
    }

    pub(super) fn one() -> Self {
        Self(vec![1])
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_one(&self) -> bool {
        self.0 == [1]
    }

    /// At least as many decimal digits as it has.
    pub(super) fn digits_at_most(&self) -> u64 {
        (self.0.len() as u64).saturating_mul(DIGITS as u64)
    }

    /// The number with zeros appended.
    pub(super) fn shifted(&self, zeros: usize) -> Self {
        if self.is_zero() {
            return Self::default();
        }
        let mut limbs = vec![0; zeros / DIGITS];
        limbs.extend(&self.0);
        let rest = u32::try_from(zeros % DIGITS).unwrap_or(0);
        Self(limbs).times_small(10_u32.pow(rest))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut carry = 0;
        let mut limbs = Vec::with_capacity(long.0.len() + 1);
        for (at, &limb) in long.0.iter().enumerate() {
            let sum = u64::from(limb) + u64::from(short.0.get(at).copied().unwrap_or(0)) + carry;
            limbs.push(low(sum));
            carry = sum / BASE;
        }
        limbs.push(low(carry));
        Self(limbs).trimmed()
    }

    /// What is left after taking away something that is not larger.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut borrow = 0;
        let mut limbs = Vec::with_capacity(self.0.len());
        for (at, &limb) in self.0.iter().enumerate() {
            let taken = u64::from(other.0.get(at).copied().unwrap_or(0)) + borrow;
            let rest = u64::from(limb) + BASE - taken;
            limbs.push(low(rest % BASE));
            borrow = u64::from(rest < BASE);
        }
        Self(limbs).trimmed()
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut limbs = vec![0_u32; self.0.len() + other.0.len() + 1];
        for (at, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (offset, limb) in limbs[at..].iter_mut().enumerate() {
                let b = other.0.get(offset).copied().unwrap_or(0);
                if offset >= other.0.len() && carry == 0 {
                    break;
                }
                let sum = u64::from(*limb) + u64::from(a) * u64::from(b) + carry;
                *limb = low(sum % BASE);
                carry = sum / BASE;
            }
        }
        Self(limbs).trimmed()
    }

    fn times_small(&self, factor: u32) -> Self {
        self.times(&Self(vec![factor]).trimmed())
    }

    /// The quotient and the rest; the divisor is not zero.
    pub(super) fn divided(&self, by: &Self) -> (Self, Self) {
        if self.cmp_value(by) == Ordering::Less {
            return (Self::default(), self.clone());
        }
        if let [small] = by.0[..] {
            let (quotient, rest) = self.divided_small(small);
            return (quotient, Self(vec![rest]).trimmed());
        }
        self.divided_long(by)
    }

    pub(super) fn divided_small(&self, by: u32) -> (Self, u32) {
        let mut rest = 0;
        let mut limbs = vec![0; self.0.len()];
        for (at, &limb) in self.0.iter().enumerate().rev() {
            let part = rest * BASE + u64::from(limb);
            limbs[at] = low(part / u64::from(by));
            rest = part % u64::from(by);
        }
        (Self(limbs).trimmed(), low(rest))
    }

    /// Long division as on paper, with digits of nine places. Scaling makes the divisor's top limb large, so that a guess from
    /// the top limbs is at most two too high.
    fn divided_long(&self, by: &Self) -> (Self, Self) {
        let scale = low(BASE / (u64::from(by.0[by.0.len() - 1]) + 1));
        let (mut rest, by) = (self.times_small(scale).0, by.times_small(scale).0);
        let width = by.len();
        rest.resize(self.0.len() + 2, 0);
        let mut quotient = vec![0; rest.len() - width];
        let (top, next) = (u64::from(by[width - 1]), u64::from(by[width - 2]));
        for at in (0..rest.len() - width).rev() {
            let head = u64::from(rest[at + width]) * BASE + u64::from(rest[at + width - 1]);
            let (mut guess, mut left) = (head / top, head % top);
            while guess >= BASE || guess * next > left * BASE + u64::from(rest[at + width - 2]) {
                guess -= 1;
                left += top;
                if left >= BASE {
                    break;
                }
            }
            if take_times(&mut rest[at..=at + width], &by, guess) {
                guess -= 1;
                give_back(&mut rest[at..=at + width], &by);
            }
            quotient[at] = low(guess);
        }
        let (rest, _) = Self(rest).trimmed().divided_small(scale);
        (Self(quotient).trimmed(), rest)
    }

    pub(super) fn cmp_value(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
}

/// Takes a multiple away; whether that was more than there was.
fn take_times(from: &mut [u32], what: &[u32], times: u64) -> bool {
    let mut carry = 0;
    let mut borrow = 0;
    for (at, limb) in from.iter_mut().enumerate() {
        let product = u64::from(what.get(at).copied().unwrap_or(0)) * times + carry;
        carry = product / BASE;
        let rest = u64::from(*limb) + BASE - product % BASE - borrow;
        *limb = low(rest % BASE);
        borrow = u64::from(rest < BASE);
    }
    borrow > 0
}

fn give_back(to: &mut [u32], what: &[u32]) {
    let mut carry = 0;
    for (at, limb) in to.iter_mut().enumerate() {
        let sum = u64::from(*limb) + u64::from(what.get(at).copied().unwrap_or(0)) + carry;
        *limb = low(sum % BASE);
        carry = sum / BASE;
    }
}

/// The lowest limb of a sum.
fn low(value: u64) -> u32 {
    u32::try_from(value % BASE).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn natural(digits: &str) -> Natural {
        Natural::from_digits(digits)
    }

    #[test]
    fn digits_come_back() {
        for digits in ["0", "7", "1000000000", "999999999999999999", "123456789012345678901234567890"] {
            assert_eq!(natural(digits).to_digits(), digits);
        }
        assert_eq!(natural("000").to_digits(), "0");
        assert_eq!(natural("12").shifted(11).to_digits(), "1200000000000");
    }

    #[test]
    fn a_quotient_whose_first_guess_is_too_high() {
        let (a, b) = (natural("999999999000000000000000000"), natural("999999999999999999"));
        let (quotient, rest) = a.divided(&b);
        assert_eq!(quotient.times(&b).plus(&rest), a);
        assert_eq!(rest.cmp_value(&b), Ordering::Less);
    }

    proptest! {
        #[test]
        fn it_calculates_like_the_machine(a in any::<u64>(), b in 1..u64::MAX) {
            let (x, y) = (natural(&a.to_string()), natural(&b.to_string()));
            prop_assert_eq!(x.plus(&y).to_digits(), (u128::from(a) + u128::from(b)).to_string());
            prop_assert_eq!(x.times(&y).to_digits(), (u128::from(a) * u128::from(b)).to_string());
            let (quotient, rest) = x.divided(&y);
            prop_assert_eq!((quotient.to_digits(), rest.to_digits()), ((a / b).to_string(), (a % b).to_string()));
        }

        #[test]
        fn division_undoes_multiplication(a in "[09]{0,40}[0-9]{1,60}", b in "[1-9][09]{0,40}[0-9]{0,30}") {
            let (a, b) = (natural(&a), natural(&b));
            let (quotient, rest) = a.divided(&b);
            prop_assert_eq!(rest.cmp_value(&b), Ordering::Less);
            prop_assert_eq!(quotient.times(&b).plus(&rest), a.clone());
            let sum = a.plus(&b);
            prop_assert_eq!(sum.minus(&b), a);
        }
    }
}
