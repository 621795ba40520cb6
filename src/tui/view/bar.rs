//! The bar of the load, cell by cell: which kind fills it, where the line stands. No drawing.

use crate::context::Kind;

/// The column of the line in a bar of `width` cells: at 5/6, rounded.
pub(super) fn line_at(width: usize) -> usize {
    (width * 5 + 3) / 6
}

/// A cell of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// Full of a kind.
    Filled(Kind),
    /// The line.
    Line,
    /// There is more than the bar can show.
    Beyond,
    /// Empty, below the line.
    Room,
    /// Empty, above the line.
    Behind,
}

/// A bar, cell by cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bar {
    /// The cells from the left.
    pub(super) cells: Vec<Slot>,
}

impl Bar {
    /// The bar of `width` cells for the sizes of the kinds, in stack order.
    pub(super) fn of(sizes: &[usize; 8], limit: usize, width: usize) -> Self {
        let sum: u128 = sizes.iter().map(|size| *size as u128).sum();
        let beyond = sum * 5 > limit.max(1) as u128 * 6;
        let room = width - usize::from(beyond && width > 0);
        let counts = counts(sizes, limit, (width, room));
        let line = line_at(width);
        let mut cells: Vec<Slot> = Kind::ALL
            .into_iter()
            .zip(counts)
            .flat_map(|(kind, cells)| std::iter::repeat_n(Slot::Filled(kind), cells))
            .collect();
        while cells.len() < room {
            let empty = if cells.len() < line {
                Slot::Room
            } else {
                Slot::Behind
            };
            cells.push(empty);
        }
        if room < width {
            cells.push(Slot::Beyond);
        }
        let mut bar = Self { cells };
        bar.draw_line(line);
        bar
    }

    /// Puts the line over what is there. A kind whose only cell that was moves aside, at the cost of the largest.
    fn draw_line(&mut self, line: usize) {
        let Some(under) = self.cells.get(line).copied() else {
            return;
        };
        self.cells[line] = Slot::Line;
        let Slot::Filled(kind) = under else { return };
        if self.count(kind) > 0 {
            return;
        }
        if let Some(free @ (Slot::Room | Slot::Behind)) = self.cells.get_mut(line + 1) {
            *free = under;
            return;
        }
        let largest = Kind::ALL
            .into_iter()
            .max_by_key(|kind| self.count(*kind))
            .filter(|kind| self.count(*kind) > 1)
            .and_then(|kind| {
                self.cells
                    .iter()
                    .position(|cell| *cell == Slot::Filled(kind))
            });
        if let Some(from) = largest {
            self.cells.remove(from);
            // The line stays where it is, whichever side gave the cell.
            let beside = if from < line { line - 1 } else { line + 1 };
            self.cells.insert(beside, under);
        }
    }

    fn count(&self, kind: Kind) -> usize {
        self.cells
            .iter()
            .filter(|cell| **cell == Slot::Filled(kind))
            .count()
    }

    /// Where letters stand: at the first cell of each kind that has two or more side by side.
    pub(super) fn letters(&self) -> impl Iterator<Item = (usize, Kind)> {
        Kind::ALL.into_iter().filter_map(|kind| {
            let filled = Slot::Filled(kind);
            let at = self
                .cells
                .windows(2)
                .position(|pair| pair == [filled, filled])?;
            Some((at, kind))
        })
    }
}

/// How many of `room` cells each kind gets, where a bar of `width` cells stands for 1.2 times `limit`.
///
/// Cell edges are rounded along the stack, so that rounding never adds up. A kind that is there gets a cell, and what is
/// too much goes, at the cost of the largest.
fn counts(sizes: &[usize; 8], limit: usize, (width, room): (usize, usize)) -> [usize; 8] {
    let scale = limit.max(1) as u128 * 12;
    let mut counts = [0; 8];
    let (mut sum, mut edge) = (0_u128, 0);
    for (at, size) in sizes.iter().enumerate() {
        sum += *size as u128;
        let next = (sum * width as u128 * 20 + scale) / (scale * 2);
        let next = usize::try_from(next).unwrap_or(usize::MAX);
        counts[at] = next - edge;
        edge = next;
    }
    for at in 0..8 {
        if sizes[at] > 0 && counts[at] == 0 {
            counts[at] = 1;
            let largest = largest(&counts);
            if counts[largest] > 1 {
                counts[largest] -= 1;
            }
        }
    }
    for count in &mut counts {
        *count = (*count).min(room);
    }
    let mut excess = counts.iter().sum::<usize>().saturating_sub(room);
    while excess > 0 {
        let largest = largest(&counts);
        let second = (0..8)
            .filter(|at| *at != largest)
            .map(|at| counts[at])
            .max()
            .unwrap_or(0);
        let take = excess.min((counts[largest] - second).max(1));
        counts[largest] -= take;
        excess -= take;
    }
    counts
}

/// The largest count; of equal ones the last, so that in a bar of few cells the frame gives way first.
fn largest(counts: &[usize; 8]) -> usize {
    (0..8).max_by_key(|at| counts[*at]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 50_000;

    fn filled(bar: &Bar, kind: Kind) -> usize {
        bar.count(kind)
    }

    #[test]
    fn the_line_is_at_five_sixths_at_any_width_and_load() {
        for width in 20..=200 {
            let at = (width as f64 / 1.2).round();
            for load in [
                0,
                1,
                37_030,
                50_000,
                50_001,
                62_449,
                171_096,
                10_usize.pow(9),
            ] {
                let bar = Bar::of(&[0, 0, load, 0, 0, 0, 0, 0], LIMIT, width);
                assert_eq!(bar.cells.len(), width);
                let lines: Vec<usize> = (0..width)
                    .filter(|cell| bar.cells[*cell] == Slot::Line)
                    .collect();
                assert_eq!(lines.len(), 1);
                assert!((lines[0] as f64 - at).abs() < 0.1, "{width}: {lines:?}");
            }
        }
    }

    #[test]
    fn cells_are_proportional() {
        for width in 20..=200 {
            for load in (1_000..=60_000).step_by(997) {
                let bar = Bar::of(&[0, 0, load / 3, 0, load - load / 3, 0, 0, 0], LIMIT, width);
                let exact = load as f64 * width as f64 / 60_000.0;
                let kinds: usize = Kind::ALL.iter().map(|kind| filled(&bar, *kind)).sum();
                // The line stands in front of one cell of a load that reaches beyond it.
                let hidden = usize::from(exact.round() > line_at(width) as f64);
                let off = ((kinds + hidden) as f64 - exact).abs();
                // Two kinds have two cells, however small they are.
                let slack = if exact < 3.0 { 2.0 } else { 0.5001 };
                assert!(off <= slack, "{width}, {load}: {off}");
            }
        }
    }

    #[test]
    fn what_is_there_gets_a_cell_and_what_is_not_gets_none() {
        let mixes = [
            [3_249, 312, 5_530, 12_419, 7_548, 0, 1_270, 6_702],
            [1, 1, 1, 1, 49_000, 1, 1, 1],
            [1, 1, 1, 1, 1, 1, 1, 1],
            [1, 1, 1, 1, 900_000, 1, 1, 1],
            [0, 2, 0, 49_990, 0, 4, 0, 4],
            [0, 60, 0, 0, 0, 0, 49_940, 20],
            [50_000, 50_000, 50_000, 50_000, 1, 50_000, 50_000, 50_000],
        ];
        for sizes in mixes {
            for width in 20..=200 {
                let bar = Bar::of(&sizes, LIMIT, width);
                for (kind, size) in Kind::ALL.into_iter().zip(sizes) {
                    assert_eq!(
                        filled(&bar, kind) > 0,
                        size > 0,
                        "{width}: {kind:?} of {sizes:?} in {:?}",
                        bar.cells
                    );
                }
            }
        }
    }

    #[test]
    fn a_load_beyond_the_bar_ends_in_its_sign() {
        let last = |load| {
            let bar = Bar::of(&[0, 0, 0, 0, load, 0, 0, 0], LIMIT, 60);
            bar.cells.last().copied()
        };
        assert_eq!(last(60_000), Some(Slot::Filled(Kind::Results)));
        assert_eq!(last(60_001), Some(Slot::Beyond));
        assert_eq!(last(49_000), Some(Slot::Behind));
    }

    #[test]
    fn the_smallest_bars_and_limits_hold() {
        for width in 0..20 {
            for limit in [0, 1, 50_000] {
                for load in [0, 1, 50_000, usize::MAX / 16] {
                    let bar = Bar::of(&[load; 8], limit, width);
                    assert_eq!(bar.cells.len(), width);
                }
            }
        }
    }
}
