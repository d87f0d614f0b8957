//// all of nearest_of_centres
