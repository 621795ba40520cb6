//! What is drawn where: the layout as a pure function of the area, and the order of drawing.
