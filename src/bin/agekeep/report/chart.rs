//! The pictures of a report, as SVG. A series has a colour of the Okabe-Ito palette, which people
//! who see fewer colours tell apart; the page gives each a pattern too, for prints in grey.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The width of every picture, in its own units: narrow enough to be read on a telephone.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 210;
/// The height of a bar that runs across, with its label.
const ROW: i32 = 34;
/// Longest label beside a bar, in characters.
const LABEL_MAX: usize = 52;

/// A colour with the name of its pattern.
#[derive(Clone, Copy)]
pub(super) struct Shade {
    pub(super) name: &'static str,
    rgb: RGBColor,
    /// The lines of its pattern, as the path of an SVG, drawn on 6 by 6 units.
    pub(super) pattern: &'static str,
}

pub(super) const SKY: Shade = shade("sky", 0x56, 0xB4, 0xE9, "");
pub(super) const BLUE: Shade = shade("blue", 0x00, 0x72, 0xB2, "M0 6L6 0M-1 1L1 -1M5 7L7 5");
pub(super) const ORANGE: Shade = shade("orange", 0xE6, 0x9F, 0x00, "M0 0L6 6M-1 5L1 7M5 -1L7 1");
pub(super) const GREEN: Shade = shade("green", 0x00, 0x9E, 0x73, "M3 0V6");
pub(super) const PURPLE: Shade = shade("purple", 0xCC, 0x79, 0xA7, "M0 3H6");
pub(super) const VERMILION: Shade = shade("vermilion", 0xD5, 0x5E, 0x00, "M0 6L6 0M0 0L6 6");

pub(super) const SHADES: [Shade; 6] = [SKY, BLUE, ORANGE, GREEN, PURPLE, VERMILION];

const INK: RGBColor = RGBColor(0x76, 0x76, 0x76);

const fn shade(name: &'static str, r: u8, g: u8, b: u8, pattern: &'static str) -> Shade {
    Shade {
        name,
        rgb: RGBColor(r, g, b),
        pattern,
    }
}

impl Shade {
    /// Returns the colour as it stands in a picture.
    pub(super) fn hex(self) -> String {
        let RGBColor(r, g, b) = self.rgb;
        format!("#{r:02X}{g:02X}{b:02X}")
    }
}

/// Values of one kind, one for each place on the axis.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) shade: Shade,
    pub(super) values: Vec<u64>,
}

/// A bar that runs across, in parts.
pub(super) struct BarRow {
    pub(super) label: String,
    pub(super) parts: Vec<(Shade, u64)>,
}

/// The content of an SVG, and its size.
pub(super) struct Picture {
    pub(super) content: String,
    pub(super) height: u32,
}

impl Picture {
    pub(super) const WIDTH: u32 = WIDTH;

    fn of(height: u32, draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>)) -> Self {
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
            draw(&area);
            area.present().expect("a string takes all");
        }
        let inside = text
            .split_once("<svg")
            .and_then(|(_, rest)| rest.split_once('>'));
        let inside = inside.map_or("", |(_, inside)| inside);
        let inside = inside
            .rsplit_once("</svg>")
            .map_or("", |(inside, _)| inside);
        Self {
            content: inside.trim().to_owned(),
            height,
        }
    }
}

/// Draws stacked bars, one for each label.
pub(super) fn stacked(labels: &[String], series: &[Series]) -> Picture {
    let sums = (0..labels.len()).map(|at| series.iter().map(|one| one.values[at]).sum::<u64>());
    let most = sums.max().unwrap_or(0);
    Picture::of(HEIGHT, |area| {
        draw_axes(area, labels, most, &super::count, |chart| {
            let mut bottoms = vec![0.0; labels.len()];
            for one in series {
                let bars = one
                    .values
                    .iter()
                    .enumerate()
                    .filter(|(_, value)| **value > 0);
                let bars = bars.map(|(at, value)| {
                    let (left, bottom) = (float(at as u64), bottoms[at]);
                    bottoms[at] += float(*value);
                    let corners = [(left + 0.08, bottom), (left + 0.92, bottoms[at])];
                    Rectangle::new(corners, one.shade.rgb.filled())
                });
                chart.draw_series(bars).expect("a string takes all");
            }
        });
    })
}

/// Draws a line over its area, with a mark at each value where there is room.
pub(super) fn line(
    labels: &[String],
    values: &[u64],
    shade: Shade,
    format: &dyn Fn(u64) -> String,
) -> Picture {
    let most = values.iter().max().copied().unwrap_or(0);
    Picture::of(HEIGHT, |area| {
        draw_axes(area, labels, most, format, |chart| {
            let points = values.iter().enumerate();
            let points: Vec<(f64, f64)> = points
                .map(|(at, value)| (float(at as u64) + 0.5, float(*value)))
                .collect();
            let below = AreaSeries::new(points.iter().copied(), 0.0, shade.rgb.mix(0.25));
            chart
                .draw_series(below.border_style(shade.rgb.stroke_width(2)))
                .expect("a string takes all");
            if points.len() <= 60 {
                let marks = points
                    .iter()
                    .map(|at| Circle::new(*at, 2, shade.rgb.filled()));
                chart.draw_series(marks).expect("a string takes all");
            }
        });
    })
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn draw_axes<'b>(
    area: &DrawingArea<SVGBackend<'b>, Shift>,
    labels: &[String],
    most: u64,
    format: &dyn Fn(u64) -> String,
    draw: impl FnOnce(&mut Chart<'_, 'b>),
) {
    // A little room above the highest bar.
    let top = float(most.max(1)) * 1.08;
    let mut chart = ChartBuilder::on(area)
        .margin(6)
        .margin_right(14)
        .x_label_area_size(26)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..float(labels.len().max(1) as u64), 0.0..top)
        .expect("the ranges are not empty");
    let label_at = |at: &f64| {
        let is_place = at.fract().abs() < 1e-6 && *at >= 0.0;
        let place = is_place.then(|| labels.get(whole(*at)));
        place.flatten().cloned().unwrap_or_default()
    };
    let height_at = |at: &f64| {
        let is_whole = (at - at.round()).abs() < 1e-6;
        if is_whole {
            format(whole(*at) as u64)
        } else {
            String::new()
        }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(5)
        .y_labels(4)
        .x_label_formatter(&label_at)
        .y_label_formatter(&height_at)
        .label_style(("sans-serif", 13))
        .axis_style(INK)
        .bold_line_style(INK.mix(0.35))
        .light_line_style(TRANSPARENT)
        .draw()
        .expect("a string takes all");
    draw(&mut chart);
}

/// Draws bars that run across, each below its label and with its sum.
pub(super) fn across(rows: &[BarRow]) -> Picture {
    let sum = |row: &BarRow| row.parts.iter().map(|(_, value)| value).sum::<u64>();
    let most = rows.iter().map(sum).max().unwrap_or(0).max(1);
    // Room for the sum beside the longest bar.
    let widest = i32::try_from(WIDTH).unwrap_or(i32::MAX) - 90;
    let height = ROW * i32::try_from(rows.len()).unwrap_or(0) + 6;
    Picture::of(u32::try_from(height).unwrap_or(HEIGHT), |area| {
        let text = ("sans-serif", 13).into_font().color(&INK);
        for (place, row) in (0..).zip(rows) {
            let top = place * ROW + 3;
            let label = Text::new(cut(&row.label), (4, top), text.clone());
            area.draw(&label).expect("a string takes all");
            let mut left = 4;
            for (shade, value) in row.parts.iter().filter(|(_, value)| *value > 0) {
                let share = float(*value) / float(most) * f64::from(widest);
                let right = left + i32::try_from(whole(share)).unwrap_or(widest).max(2);
                let bar = Rectangle::new([(left, top + 16), (right, top + 29)], shade.rgb.filled());
                area.draw(&bar).expect("a string takes all");
                left = right;
            }
            let sum = Text::new(super::count(sum(row)), (left + 6, top + 16), text.clone());
            area.draw(&sum).expect("a string takes all");
        }
    })
}

/// Cuts a label that no picture has room for in the middle, as its end often tells more.
fn cut(label: &str) -> String {
    let characters: Vec<char> = label.chars().collect();
    if characters.len() <= LABEL_MAX {
        return label.to_owned();
    }
    let half = LABEL_MAX / 2;
    let begin: String = characters[..half].iter().collect();
    let end: String = characters[characters.len() - half..].iter().collect();
    format!("{begin}…{end}")
}

#[allow(clippy::cast_precision_loss)] // a picture has fewer points than that
fn float(number: u64) -> f64 {
    number as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // no picture has such points
fn whole(number: f64) -> usize {
    number.round().max(0.0) as usize
}
